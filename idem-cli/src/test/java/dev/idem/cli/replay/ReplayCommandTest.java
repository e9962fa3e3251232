package dev.idem.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.Replayer;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayCommandTest {
    private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
    private final JdbcDataSource dataSource = new JdbcDataSource();
    private final Consumer mail = Consumer.named("mail")
            .policy(Policy.defaults().withReplay(Policy.Replay.SUPPRESS_EFFECTS))
            .queued(QueuePolicy.inTransaction().withPayloadWindow(Duration.ofDays(1)))
            .otherwise((message, tx) -> {
                tx.nothingToDo();
                return null;
            })
            .build();
    private Inbox inbox;

    @BeforeEach
    void threeMessagesAreDone() throws Exception {
        dataSource.setURL(url);
        inbox = Inbox.create(JdbcStore.create(dataSource));
        inbox.start(mail);
        for (int i = 0; i < 3; i++) {
            inbox.accept(mail, Message.of("m" + i, "Dear Alice".getBytes(StandardCharsets.UTF_8)));
        }
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (number("SELECT count(*) FROM idem_archive") < 3) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.sleep(20);
        }
    }

    @AfterEach
    void close() {
        inbox.close();
    }

    @Test
    @DisplayName(
            "RP-03 a dry run is waited for and says what would be suppressed; then the session is done, and both are audited")
    void startAndStatus() throws Exception {
        try (Replayer replayer = Replayer.builder(inbox)
                .consumer(mail)
                .source(JdbcReplays.stored(JdbcSchema.of(dataSource)))
                .start()) {
            Cli counted = start("count-1", "--dry-run");
            assertThat(counted.code()).as(counted.err()).isEqualTo(ExitCodes.OK);
            assertThat(counted.out())
                    .contains("count-1, a dry run", "DONE", "SUPPRESS_EFFECTS: everything runs once, without effects")
                    .containsPattern("would run +3")
                    .containsPattern("done before +3")
                    .containsPattern("would be suppressed +3");
            assertThat(start("mail-1", "--json").out()).contains("\"name\":\"mail-1\"", "\"perSecond\":50");
            long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            while (!run("status", "mail-1").out().contains("DONE")) {
                assertThat(System.nanoTime()).isLessThan(deadline);
            }
            assertThat(run("status", "mail-1").out())
                    .containsPattern("processed +3")
                    .contains("anna, because: count");
            assertThat(run("status").out()).contains("mail-1", "DONE*", "* a dry run");
            assertThat(run("status", "--json").out()).startsWith("{\"sessions\":[{\"name\":\"mail-1\"");
            assertThat(start("mail-1").code()).isNotEqualTo(ExitCodes.OK);
            assertThat(start("mail-1").err()).contains("already");
            assertThat(replayer).isNotNull();
        }
        assertThat(number("SELECT count(*) FROM idem_audit WHERE action = 'REPLAY_START' AND actor = 'anna'"))
                .isEqualTo(2);
    }

    private static Consumer orders(Policy.Replay replay) {
        return Consumer.named("orders")
                .policy(Policy.defaults().withReplay(replay))
                .queued(QueuePolicy.leased(Duration.ofMinutes(1)).withPayloadWindow(Duration.ofDays(1)))
                .publishesTo(Outbox.named("notes"))
                .otherwiseSteps((order, steps) -> steps.effect("charge-card", key -> {}))
                .build();
    }

    @Test
    @DisplayName("RP-03 a dry run and its status say which effects would be answered, suppressed or made")
    void effects() throws Exception {
        Consumer quiet = orders(Policy.Replay.SUPPRESS_EFFECTS);
        inbox.start(quiet);
        for (int i = 0; i < 3; i++) {
            inbox.accept(quiet, Message.of("o" + i, new byte[0]));
        }
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (number("SELECT count(*) FROM idem_archive") < 6) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.sleep(20);
        }
        try (var connection = DriverManager.getConnection(url)) { // of two of them the window is over
            connection
                    .createStatement()
                    .execute("DELETE FROM idem_marker WHERE readable <> 'o0' AND consumer = (SELECT number FROM"
                            + " idem_consumer WHERE name = 'orders')");
            connection
                    .createStatement()
                    .execute("DELETE FROM idem_step WHERE message_key NOT IN (SELECT message_key FROM idem_marker)");
        }
        try (Replayer replayer = replayer(quiet)) {
            assertThat(startFor("orders", "count-1", "--dry-run").out())
                    .containsPattern("effect +charge-card: 1 answered from the ledger, up to 2 would be suppressed")
                    .containsPattern("effect +to notes: publications of up to 3 messages would be suppressed")
                    .containsPattern("effect +any other: 0 answered from the ledger, those of up to 2 messages"
                            + " would be suppressed");
            assertThat(run("status", "count-1", "--json").out())
                    .contains("{\"kind\":\"EFFECT\",\"name\":\"charge-card\",\"answered\":1,\"unsettled\":0,"
                            + "\"suppressedAtMost\":2,\"madeAtMost\":0}");
            assertThat(replayer).isNotNull();
        }
        try (Replayer replayer = replayer(orders(Policy.Replay.ALLOWED))) {
            assertThat(startFor("orders", "count-2", "--dry-run").out())
                    .containsPattern("effect +charge-card: 1 answered from the ledger, up to 2 would be made")
                    .containsPattern("effect +to notes: publications of up to 3 messages would be sent");
            assertThat(run("status", "count-2", "--json").out()).contains("\"suppressedAtMost\":0,\"madeAtMost\":2}");
            assertThat(replayer).isNotNull();
        }
    }

    private Replayer replayer(Consumer consumer) {
        return Replayer.builder(inbox)
                .consumer(consumer)
                .source(JdbcReplays.stored(JdbcSchema.of(dataSource)))
                .start();
    }

    @Test
    @DisplayName("a session that nobody takes is said to wait, and can be paused, resumed and aborted")
    void nobodyTakesIt() throws Exception {
        Cli started = start("mail-1");
        assertThat(started.err()).contains("Nobody has taken the session yet", "Replayer");
        assertThat(started.out()).contains("REQUESTED");
        assertThat(run("pause", "mail-1", "--reason", "r").out()).contains("PAUSED");
        assertThat(run("resume", "mail-1", "--reason", "r", "--json").out()).contains("\"state\":\"REQUESTED\"");
        assertThat(run("abort", "mail-1", "--reason", "r").out()).contains("ABORTED");
        assertThat(run("resume", "mail-1", "--reason", "r").code()).isNotEqualTo(ExitCodes.OK);
        start("mail-2");
        for (Cli wrong : List.of(
                run("status", "other"),
                run("status", "other", "--json"),
                run("pause", "other", "--reason", "r"),
                run("resume", "other", "--reason", "r"),
                run("abort", "other", "--reason", "r"))) {
            assertThat(wrong.code()).isEqualTo(ExitCodes.CHECK_FAILED);
            assertThat(wrong.out()).isEmpty();
            assertThat(wrong.err()).startsWith("There is no session other. There are: mail-1, mail-2.");
        }
        assertThat(Cli.run(
                                "replay",
                                "start",
                                "--name",
                                "x",
                                "--consumer",
                                "mail",
                                "--source",
                                "stored:from",
                                "--reason",
                                "r",
                                "--url",
                                url)
                        .err())
                .contains("not an option");
    }

    @Test
    @DisplayName("RP-02 a parked message is edited, shown with its revisions, and retried")
    void edits(@TempDir Path folder) throws Exception {
        inbox.close();
        try (Inbox door = Inbox.create(JdbcStore.create(dataSource))) {
            door.accept(mail, Message.of("m9", "Dear Alcie".getBytes(StandardCharsets.UTF_8)));
        }
        String id = Long.toString(number("SELECT id FROM idem_queue"));
        Path file = Files.writeString(folder.resolve("payload"), "Dear Alice");
        List<String> edit = List.of(
                "edit", id, "--payload", file.toString(), "--header", "lang=en", "--reason", "typo", "--by", "anna");
        assertThat(inbox(edit).code()).as("it is not parked").isEqualTo(ExitCodes.CHECK_FAILED);
        inbox(List.of("park", id, "--reason", "wait"));
        assertThat(inbox(edit).out()).contains("CHANGED: revision 2: payload of 10 bytes → 10 bytes; header lang set");
        assertThat(inbox(edit).out()).contains("UNCHANGED");
        assertThat(inbox(List.of("show", id)).out()).contains("revision", "edited by anna", "because: typo");
        assertThat(inbox(List.of("show", id, "--payload", "-", "--json")).out()).contains("Dear Alice");
        assertThat(inbox(List.of("show", id, "--payload", "-", "--revision", "1", "--json"))
                        .out())
                .contains("Dear Alcie", "\"revisions\":[{\"number\":1");
        assertThat(inbox(List.of("edit", id, "--reason", "r")).err()).contains("Say what to change");
        byte[] piped = {0, (byte) 0xFF, '\n'};
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(piped));
        try {
            assertThat(inbox(List.of("edit", id, "--payload", "-", "--reason", "piped"))
                            .out())
                    .contains("CHANGED: revision 3: payload of 10 bytes → 3 bytes");
        } finally {
            System.setIn(before);
        }
        Path kept = folder.resolve("kept");
        inbox(List.of("show", id, "--payload", kept.toString()));
        assertThat(Files.readAllBytes(kept)).isEqualTo(piped);
        assertThat(inbox(List.of("retry", id, "--reason", "repaired")).out()).contains("CHANGED");
    }

    private Cli inbox(List<String> arguments) {
        List<String> all = new ArrayList<>(List.of("inbox"));
        all.addAll(arguments);
        all.addAll(List.of("--url", url));
        return Cli.run(all.toArray(String[]::new));
    }

    private Cli start(String name, String... more) {
        return startFor("mail", name, more);
    }

    private Cli startFor(String consumer, String name, String... more) {
        List<String> all = new ArrayList<>(List.of(
                "replay",
                "start",
                "--name",
                name,
                "--consumer",
                consumer,
                "--source",
                "stored",
                "--by",
                "anna",
                "--reason",
                "count",
                "--rate",
                "50",
                "--url",
                url));
        all.addAll(List.of(more));
        return Cli.run(all.toArray(String[]::new));
    }

    private Cli run(String... arguments) {
        List<String> all = new ArrayList<>(List.of("replay"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--url", url));
        return Cli.run(all.toArray(String[]::new));
    }

    private long number(String sql) throws Exception {
        try (var connection = DriverManager.getConnection(url);
                ResultSet rows = connection.createStatement().executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
