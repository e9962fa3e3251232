package dev.idem.cli.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.jdbc.JdbcStore;
import dev.idem.queue.QueuePolicy;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InboxCommandTest {
    private static final String EVIL = "\u001b[2J\u0007\u009B\r\n\u202Eforged";

    private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

    @BeforeEach
    void threeMessages() throws Exception {
        var dataSource = new JdbcDataSource();
        dataSource.setURL(url);
        Consumer mail = Consumer.named("mail")
                .queued(QueuePolicy.inTransaction().withOrderByKey())
                .otherwise((message, tx) -> null)
                .build();
        try (var inbox = Inbox.create(JdbcStore.create(dataSource))) {
            inbox.accept(mail, message("m1", "alice", "Dear Alice".getBytes(StandardCharsets.UTF_8)));
            inbox.accept(mail, message("m2", "alice", new byte[] {(byte) 0xFF, 0}));
            inbox.accept(mail, message("m3" + EVIL, "bob" + EVIL, EVIL.getBytes(StandardCharsets.UTF_8)));
        }
        try (var connection = DriverManager.getConnection(url);
                PreparedStatement statement = connection.prepareStatement(
                        "UPDATE idem_queue SET status = 4, due_at = NULL, reason = 'EXHAUSTED', error = ? WHERE id <> 2")) {
            statement.setBytes(1, EVIL.getBytes(StandardCharsets.UTF_8));
            statement.execute();
        }
    }

    private static Message message(String id, String key, byte[] payload) {
        return Message.builder()
                .id(id)
                .type("welcome")
                .orderingKey(key)
                .header("authorization", "Bearer canary".getBytes(StandardCharsets.UTF_8))
                .payload(payload)
                .build();
    }

    @Test
    void statsCountEachConsumer() {
        assertThat(run("stats").out().lines().toList().get(1)).matches("mail +0 +1 +0 +0 +0 +2  -");
        assertThat(run("stats", "--json").out().strip())
                .isEqualTo("{\"consumers\":[{\"consumer\":\"mail\",\"pending\":0,\"oldestPendingSeconds\":null,"
                        + "\"inProgress\":0,\"stale\":0,\"retryable\":0,\"held\":1,\"parked\":2,\"atLeast\":false}]}");
    }

    @Test
    @DisplayName("SE-07 SE-04 nothing of a message reaches the terminal unescaped, and no payload unasked")
    void hostileTextsAreEscaped() {
        for (Cli said : List.of(
                run("list"),
                run("list", "--json"),
                run("show", "3"),
                run("show", "3", "--payload", "-"),
                run("show", "3", "--payload", "-", "--json"),
                run("skip", "3", "--reason", EVIL, "--actor", EVIL),
                run("show", "3"),
                run("list", "--state", EVIL))) {
            assertThat(said.out() + said.err())
                    .doesNotContain("\u001b", "\u0007", "\u009B", "\u202E", "\r", "Bearer", "canary");
        }
        assertThat(run("show", "3").out()).contains("\\u{1B}[2J\\u{7}\\u{9B}\\r\\n\\u{202E}forged");
        assertThat(run("list").out().lines()).hasSize(3);
        assertThat(run("show", "1").out())
                .doesNotContain("Dear")
                .contains("payload       10 bytes", "authorization, 13");
        assertThat(run("show", "1", "--payload", "-", "--json").out()).contains("\"payload\":\"Dear Alice\"");
        assertThat(run("show", "2", "--payload", "-", "--json").out()).contains("\"payloadBase64\":\"/wA=\"");
    }

    @Test
    @DisplayName("a payload goes to a file or to the standard output, byte for byte and alone")
    void payloads(@TempDir Path files) throws Exception {
        Path file = files.resolve("payload");
        assertThat(run("show", "2", "--payload", file.toString()).out()).contains("payload       2 bytes");
        assertThat(Files.readAllBytes(file)).containsExactly(0xFF, 0);
        PrintStream before = System.out;
        ByteArrayOutputStream standard = new ByteArrayOutputStream();
        System.setOut(new PrintStream(standard, true, StandardCharsets.UTF_8));
        try {
            assertThat(run("show", "2", "--payload", "-").out()).isEmpty();
        } finally {
            System.setOut(before);
        }
        assertThat(standard.toByteArray()).containsExactly(0xFF, 0);
    }

    @Test
    void whatIsWrongIsAnsweredWithWhatIsRight() {
        assertThat(run("list", "--state", "parkd").err())
                .contains(
                        "there is no state parkd; the states are received, in-progress, failed-retryable, ",
                        "parked",
                        "held");
        assertThat(run("show", "99").err())
                .contains("Message 99 is not in the queue", "There are: 2, 3. See 'idem inbox list'");
        assertThat(run("show", "--consumer", "mail", "--message-id", "m9").err())
                .contains("Message m9 is not in the queue", "There are: m1, m2, m3");
        assertThat(run("list", "--consumer", "mial").err())
                .contains("There is no consumer mial. There are: mail. See 'idem consumer list'.");
    }

    @Test
    void pagesAndFiltersOfAList() {
        assertThat(run("list", "--limit", "2").out()).contains("There are more: --after 2");
        assertThat(run("list", "--after", "2").out().lines()).hasSize(1);
        assertThat(run("list", "--newest", "--limit", "1").out()).startsWith("       3  PARKED");
        assertThat(run("list", "--state", "held,received").out().lines())
                .singleElement()
                .asString()
                .contains("mail/m2", "key alice");
        assertThat(run("list", "--ordering-key", "alice", "--type", "welcome", "--consumer", "mail")
                        .out()
                        .lines())
                .hasSize(2);
        assertThat(run("list", "--with-reason", "TERMINAL").out()).contains("No message is like that");
        assertThat(run("list", "--older-than", "1h", "--json").out().strip())
                .isEqualTo("{\"messages\":[],\"next\":null}");
    }

    @Test
    void aMessageIsFoundByItsId() {
        assertThat(run("show", "--consumer", "mail", "--message-id", "m2").out())
                .contains("mail/m2", "HELD");
        assertThat(run("show", "--consumer", "mail", "--message-id", "m9").code())
                .isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(run("show", "99").err()).contains("not in the queue");
    }

    @Test
    void oneMessageIsRetriedOnceAndTheAuditSaysWhoAndWhy() throws Exception {
        Cli dry = run("retry", "1", "--reason", "back", "--actor", "anna", "--dry-run");
        assertThat(dry.out().strip()).isEqualTo("1: CHANGED (would be): PARKED → RECEIVED");
        assertThat(number("SELECT status FROM idem_queue WHERE id = 1")).isEqualTo(4);

        assertThat(run("retry", "1", "--reason", "back", "--actor", "anna")
                        .out()
                        .strip())
                .isEqualTo("1: CHANGED: PARKED → RECEIVED");
        Cli again = run("retry", "1", "--reason", "back", "--actor", "anna", "--json");
        assertThat(again.code()).isZero();
        assertThat(again.out()).contains("\"result\":\"UNCHANGED\"");
        assertThat(number("SELECT count(*) FROM idem_audit")).isEqualTo(1);
        assertThat(run("show", "1").out()).contains("RETRY by anna, message 1: PARKED → RECEIVED, because: back");
    }

    @Test
    void theActorIsTheUserOfTheSystemByDefault() throws Exception {
        run("skip", "1", "--reason", "done by hand");
        assertThat(run("show", "1").out()).contains("SKIP by " + System.getProperty("user.name"));
        assertThat(number("SELECT status FROM idem_queue WHERE id = 2"))
                .as("released")
                .isZero();
    }

    @Test
    void aFilterNeedsAllAndCountsFirst() throws Exception {
        Cli unsaid = run("skip", "--with-reason", "EXHAUSTED", "--reason", "old");
        assertThat(unsaid.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(unsaid.err()).contains("--all");
        assertThat(run("skip", "--with-reason", "EXHAUSTED", "--reason", "old", "--dry-run")
                        .out()
                        .strip())
                .isEqualTo("2 found, would be: 2 changed, 0 unchanged, 0 busy, 0 refused");
        assertThat(number("SELECT count(*) FROM idem_audit")).isZero();
        assertThat(run("skip", "--with-reason", "EXHAUSTED", "--reason", "old", "--all", "--json")
                        .out()
                        .strip())
                .isEqualTo("{\"dryRun\":false,\"found\":2,\"changed\":2,\"unchanged\":0,\"busy\":0,\"refused\":0,"
                        + "\"others\":[]}");
        assertThat(number("SELECT count(*) FROM idem_audit")).isEqualTo(2);
    }

    @Test
    void whatCannotBeDoneIsSaidAndIsExitCodeOne() {
        assertThat(run("list", "--consumer", "nobody").err()).contains("no consumer nobody");
        assertThat(run("park", "--consumer", "nobody", "--all", "--reason", "r").code())
                .isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(run("retry", "99", "--reason", "r").code()).isEqualTo(ExitCodes.CHECK_FAILED);
        run("skip", "1", "--reason", "r");
        Cli refused = run("retry", "1", "--reason", "r");
        assertThat(refused.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(refused.out()).contains("1: REFUSED", "force");
        assertThat(run("retry", "1", "--reason", "r", "--force").code()).isZero();
        assertThat(run("park", "1", "2", "--reason", "r").out().lines()).hasSize(2);
    }

    @Test
    @DisplayName("RP-08 what a message said is erased by number or id, once, and cannot be retried")
    void erases() throws Exception {
        assertThat(run("erase", "1", "--reason", "request 113", "--dry-run").out())
                .startsWith("1: CHANGED (would be): erased the stored message (1), the readable key (1)");
        assertThat(number("SELECT count(*) FROM idem_queue WHERE OCTET_LENGTH(payload) = 0"))
                .isZero();
        assertThat(run("erase", "1", "--reason", "request 113").out()).startsWith("1: CHANGED: erased ");
        Cli again = run("erase", "--consumer", "mail", "--message-id", "m1", "--reason", "request 113", "--json");
        assertThat(again.code()).isZero();
        assertThat(again.out()).contains("\"id\":1,\"result\":\"UNCHANGED\"");
        assertThat(run("show", "1").out())
                .doesNotContain("Dear", "m1", "authorization")
                .contains("ERASED", "ERASE by ");
        assertThat(run("show", "1", "--payload", "-", "--json").out()).contains("\"payload\":\"\"");
        assertThat(run("retry", "1", "--force", "--reason", "r").out()).contains("1: REFUSED: was erased");
        assertThat(run("erase", "99", "--reason", "r").code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(run("erase", "1", "--message-id", "m1", "--reason", "r").code())
                .isEqualTo(ExitCodes.USAGE);
        assertThat(run("erase", "--consumer", "mail", "--reason", "r").code()).isEqualTo(ExitCodes.USAGE);
    }

    private Cli run(String... args) {
        List<String> all = new ArrayList<>(List.of("inbox"));
        all.addAll(List.of(args));
        all.addAll(List.of("--url", url));
        return Cli.run(all.toArray(String[]::new));
    }

    private long number(String sql) throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
