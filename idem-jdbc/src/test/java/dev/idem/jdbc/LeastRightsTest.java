package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Position;
import dev.idem.ResultCodec;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxEdit;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcAudit;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySpec;
import dev.idem.replay.Replayer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The rights that docs/operations.md names are enough for a service and for an operator, and leave the audit alone. */
class LeastRightsTest {
    private static final int SERVICE = 2;
    private static final int OPERATOR = 3;
    private static final RetryPolicy ONCE = RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(1);

    private final AtomicBoolean failing = new AtomicBoolean(true);
    private final Consumer inline = Consumer.of("inline");
    private final Consumer queued = Consumer.named("queued")
            .queued(QueuePolicy.inTransaction()
                    .withOrderByKey()
                    .withPoll(Duration.ofMillis(50))
                    .withRetry(ONCE)
                    .withPayloadWindow(Duration.ofDays(1)))
            .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
            .otherwise((message, tx) -> {
                if (failing.get() && message.id().orElseThrow().equals("m1")) {
                    throw new TerminalException("not now", null);
                }
                Db.pay(tx.connection(), message.id().orElseThrow());
                return null;
            })
            .build();
    private final Consumer steps = Consumer.named("steps")
            .queued(QueuePolicy.leased(Duration.ofSeconds(20))
                    .withPoll(Duration.ofMillis(50))
                    .withRetry(ONCE))
            .otherwiseSteps((message, run) -> {
                run.effect("charge", ResultCodec.text(), key -> "receipt");
                run.step("book", tx -> Db.pay(tx.connection(), "booked"));
            })
            .build();

    private final Consumer marked = Consumer.named("marked")
            .watermark()
            .otherwise((message, tx) -> {
                Db.pay(tx.connection(), message.id().orElseThrow());
                return null;
            })
            .build();
    private final Consumer chain = Consumer.named("chain")
            .queued(QueuePolicy.inTransaction().withPoll(Duration.ofMillis(50)).withRetry(ONCE))
            .sequence(SequenceBench.FROM_ONE)
            .otherwise((message, tx) -> {
                Db.pay(tx.connection(), message.id().orElseThrow());
                return null;
            })
            .build();

    private static Message message(String id) {
        return Message.builder()
                .id(id)
                .type("paid")
                .orderingKey("k" + id)
                .payload(id.getBytes(StandardCharsets.UTF_8))
                .build();
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("a service and an operator work with the rights that the docs name")
    void enough(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            try (Inbox owner = db.inbox()) {
                owner.register(inline); // creates the tables
            }
            String service = db.urlOf(account(db, SERVICE));
            String operator = db.urlOf(account(db, OPERATOR));
            JdbcSchema tables = JdbcSchema.of(Db.plain(service));
            JdbcStore store = JdbcStore.builder(db.pool(8, Db.plain(service)))
                    .schemaMode(SchemaMode.VALIDATE)
                    .build();
            try (Inbox inbox = Inbox.create(store)) {
                work(db, inbox);
                operate(db, operator, inbox, tables);
            }
            db.execute(
                    "UPDATE idem_marker SET marked_at = TIMESTAMP '2001-01-01 00:00:00'",
                    "UPDATE idem_step SET stored_at = 1",
                    "UPDATE idem_attempt SET failed_at = 1",
                    "UPDATE idem_archive SET keep_until = 1",
                    "UPDATE idem_revision SET edited_at = 1");
            List<JdbcRetention.Swept> swept =
                    JdbcRetention.of(tables).run(List.of(), progress -> {}).consumers();
            assertThat(swept).anyMatch(consumer -> consumer.markers() > 0);
            for (String url : List.of(service, operator)) {
                for (String sql : List.of("UPDATE idem_audit SET actor = 'nobody'", "DELETE FROM idem_audit")) {
                    assertThatThrownBy(() -> execute(url, sql)).isInstanceOf(SQLException.class);
                }
            }
            assertThat(db.number("SELECT count(*) FROM idem_audit WHERE actor = 'nobody'"))
                    .isZero();
        }
    }

    private void work(Db db, Inbox inbox) throws Exception {
        for (Class<?> outcome : List.of(Outcome.Processed.class, Outcome.Duplicate.class)) {
            assertThat(inbox.process(inline, message("m0"), ResultCodec.text(), tx -> {
                        Db.pay(tx.connection(), "m0");
                        return "result";
                    }))
                    .isInstanceOf(outcome);
        }
        assertThat(inbox.acceptAll(queued, List.of(message("m1"), message("m2"))))
                .hasOnlyElementsOfType(Outcome.Stored.class);
        assertThat(inbox.accept(queued, message("m2"))).isInstanceOf(Outcome.Duplicate.class);
        assertThat(inbox.accept(steps, message("s1"))).isInstanceOf(Outcome.Stored.class);
        Message early = message("c2").toBuilder()
                .orderingKey("stream")
                .header("version", "2")
                .build();
        assertThat(inbox.accept(chain, early)).isInstanceOf(Outcome.Stored.class);
        for (Class<?> outcome : List.of(Outcome.Processed.class, Outcome.Duplicate.class)) {
            Message first =
                    message("w0").toBuilder().position(new Position("t", 0, 0)).build();
            assertThat(inbox.accept(marked, first)).isInstanceOf(outcome);
        }
        inbox.start(queued);
        inbox.start(steps);
        inbox.start(chain);
        await().atMost(Duration.ofSeconds(60)).until(() -> db.payments() == 4);
        await().atMost(Duration.ofSeconds(60))
                .until(() -> inbox.queueStats("queued").parked() == 1);
    }

    private void operate(Db db, String operator, Inbox inbox, JdbcSchema tables) throws Exception {
        JdbcSchema seen = JdbcSchema.of(Db.plain(operator));
        JdbcInbox care = JdbcInbox.of(seen);
        InboxOperator anna = care.as("anna", "because");
        long id = care.find("queued", "m1").orElseThrow();
        assertThat(care.list(
                                InboxFilter.all().withConsumer("queued"),
                                JdbcInbox.Sorted.OLDEST_FIRST,
                                10,
                                Optional.empty())
                        .messages())
                .hasSize(1);
        InboxEdit edit = InboxEdit.nothing().payload("fixed".getBytes(StandardCharsets.UTF_8));
        assertThat(anna.edit(id, edit).result()).isEqualTo(InboxAnswer.Result.CHANGED);
        failing.set(false);
        assertThat(anna.retry(id).result()).isEqualTo(InboxAnswer.Result.CHANGED);
        await().atMost(Duration.ofSeconds(60)).until(() -> db.payments() == 5);
        await().atMost(Duration.ofSeconds(60)).until(() -> anna.passGap("chain", "stream"));
        await().atMost(Duration.ofSeconds(60)).until(() -> db.payments("c2") == 1);
        assertThat(anna.erase("queued", "m2").result()).isEqualTo(InboxAnswer.Result.CHANGED);
        assertThat(anna.erase("inline", "m0").result()).isEqualTo(InboxAnswer.Result.CHANGED);
        assertThat(care.show(id)).isEmpty();

        JdbcReplays replays = JdbcReplays.of(seen);
        replays.as("anna", "again").start("july", "queued", ReplaySpec.of("stored"));
        try (Replayer replayer = Replayer.builder(inbox)
                .consumer(queued)
                .source(JdbcReplays.stored(tables))
                .poll(Duration.ofMillis(50))
                .start()) {
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> replays.status("july").orElseThrow().state() == ReplaySession.State.DONE);
        }
        assertThat(JdbcAudit.of(seen).newest())
                .extracting(JdbcAudit.Entry::action)
                .contains("EDIT", "RETRY", "ERASE");
    }

    private static String account(Db db, int column) throws IOException {
        String account = "r_" + UUID.randomUUID().toString().substring(0, 8);
        db.execute(db.kind() == Database.POSTGRESQL ? "CREATE ROLE " + account + " LOGIN" : "CREATE USER " + account);
        db.execute("GRANT INSERT ON payment TO " + account);
        for (String line : Files.readAllLines(ProjectRoot.find().resolve("docs/operations.md"))) {
            String[] cells = line.split("\\s*\\|\\s*", -1);
            if (line.startsWith("| `idem_") && cells.length == 5 && !cells[column].isEmpty()) {
                String table = cells[1].replaceAll("`(\\w+)`.*", "$1");
                if (db.kind() == Database.MARIADB || !cells[1].contains("MariaDB")) {
                    db.execute("GRANT " + cells[column] + " ON " + table + " TO " + account);
                }
            }
        }
        return account;
    }

    private static void execute(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
