package dev.idem.jdbc;

import static dev.idem.jdbc.admin.InboxAnswer.Result.BUSY;
import static dev.idem.jdbc.admin.InboxAnswer.Result.CHANGED;
import static dev.idem.jdbc.admin.InboxAnswer.Result.MISSING;
import static dev.idem.jdbc.admin.InboxAnswer.Result.REFUSED;
import static dev.idem.jdbc.admin.InboxAnswer.Result.UNCHANGED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Fingerprint;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.TerminalException;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxEdit;
import dev.idem.jdbc.admin.InboxMessage;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueState;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySpec;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is left of a message that a person had erased. */
public class EraseTest {
    /** Stands in every part of a message that can say something about somebody. */
    public static final String CANARY = "alice";

    public static Message message(String id) {
        return Message.builder()
                .id(id)
                .type("paid")
                .source(id.contains(CANARY) ? "shop/" + CANARY : "shop")
                .orderingKey("key of " + CANARY)
                .header("name", CANARY)
                .payload(("payload of " + CANARY).getBytes(StandardCharsets.UTF_8))
                .build();
    }

    /** As lists show it. */
    static String shown(String id) {
        return "source=shop\\/" + CANARY + "/id=" + id;
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-08 SE-04 a parked message that is erased leaves no word of itself, and is a duplicate still")
    void parked(Database database) throws Exception {
        Consumer consumer = Consumer.named("payments")
                .queued(QueuePolicy.inTransaction().withOrderByKey().withPoll(Duration.ofMillis(20)))
                .otherwise((message, tx) -> {
                    if (message.id().orElseThrow().contains(CANARY)) {
                        throw new TerminalException("no account of " + CANARY, null);
                    }
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(8))) {
            inbox.accept(consumer, message(CANARY + "-1"));
            inbox.start(consumer);
            JdbcInbox operator = JdbcInbox.of(JdbcSchema.of(db.plain()));
            await().until(() -> db.number("SELECT count(*) FROM idem_queue WHERE status = 4") == 1);
            inbox.accept(consumer, message("behind"));
            long id = operator.find("payments", CANARY + "-1").orElseThrow();
            InboxOperator anna = operator.as("anna", "request 113");
            anna.edit(id, InboxEdit.nothing().payload((CANARY + " again").getBytes(StandardCharsets.UTF_8)));
            assertThat(leaks(db)).contains("queue", "attempt", "revision", "marker");

            assertThat(anna.dryRun().erase(id).detail()).contains("the stored message (1)", "error texts (1)");
            assertThat(leaks(db)).contains("queue", "attempt", "revision", "marker");
            InboxAnswer erased = anna.erase(id);

            assertThat(erased.result()).isEqualTo(CHANGED);
            assertThat(erased.to()).contains(QueueState.FAILED_TERMINAL);
            await().untilAsserted(() -> assertThat(db.payments("behind")).isEqualTo(1)); // its key goes on
            assertThat(leaks(db)).isEmpty();
            assertThat(inbox.accept(consumer, message(CANARY + "-1"))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(anna.erase(id).result()).isEqualTo(UNCHANGED);
            assertThat(anna.retry(id)).satisfies(answer -> {
                assertThat(answer.result()).isEqualTo(REFUSED);
                assertThat(answer.detail()).contains("was erased");
            });
            assertThat(anna.force().retry(id).result()).isEqualTo(REFUSED);
            assertThat(anna.edit(id, InboxEdit.nothing().payload(new byte[1])).result())
                    .isEqualTo(REFUSED);
            InboxMessage.Detail shown = operator.show(id).orElseThrow();
            assertThat(shown.unreadable()).isEmpty();
            assertThat(shown.headers()).isEmpty();
            assertThat(shown.audit()).extracting(InboxMessage.Audit::action).containsExactly("EDIT", "SKIP", "ERASE");
            assertThat(operator.payload(id)).contains(new byte[0]);
            assertThat(db.number("SELECT count(*) FROM idem_queue WHERE status = 5"))
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-08 what is done is erased by its id: the result goes; duplicates and conflicts are told as before")
    void done(Database database) throws Exception {
        Consumer consumer = Consumer.named("payments")
                .policy(Policy.defaults()
                        .withFingerprint(Fingerprint.ofPayload())
                        .withUnusedTransaction(Policy.UnusedTransaction.ALLOW))
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            inbox.process(consumer, message(CANARY + "=1/x"), ResultCodec.text(), tx -> "dear " + CANARY);
            inbox.process(consumer, message("other"), ResultCodec.text(), tx -> "dear other");
            String name = db.text("SELECT readable FROM idem_marker WHERE readable LIKE '%alice%'");
            InboxOperator anna = JdbcInbox.of(JdbcSchema.of(db.plain())).as("anna", "request 113");

            assertThat(anna.erase("payments", "unknown").result()).isEqualTo(MISSING);
            assertThat(anna.erase("nobody", name).result()).isEqualTo(MISSING);
            assertThat(anna.erase("payments", name).result()).isEqualTo(CHANGED);
            assertThat(anna.erase("payments", name).result()).isEqualTo(UNCHANGED);

            assertThat(leaks(db)).isEmpty();
            Outcome<String> again =
                    inbox.process(consumer, message(CANARY + "=1/x"), ResultCodec.text(), tx -> "once more");
            assertThat(again).isInstanceOf(Outcome.Duplicate.class);
            assertThat(((Outcome.Duplicate<String>) again).storedResult()).isEmpty();
            Message changed =
                    message(CANARY + "=1/x").toBuilder().payload(new byte[] {1}).build();
            assertThat(inbox.process(consumer, changed, ResultCodec.text(), tx -> "once more"))
                    .isInstanceOf(Outcome.Conflict.class);
            Outcome<String> other = inbox.process(consumer, message("other"), ResultCodec.text(), tx -> "once more");
            assertThat(((Outcome.Duplicate<String>) other).storedResult()).contains("dear other");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-08 a stored replay leaves an erased message out and counts it; its copies of earlier sessions go too")
    void kept(Database database) throws Exception {
        Consumer consumer = ReplayBench.paying(Policy.Replay.ALLOWED)
                .queued(QueuePolicy.inTransaction()
                        .withPoll(Duration.ofMillis(20))
                        .withPayloadWindow(Duration.ofDays(1)))
                .build();
        try (ReplayBench bench = new ReplayBench(database)) {
            bench.inbox.accept(consumer, message(CANARY + "-1"));
            bench.inbox.accept(consumer, ReplayBench.message("other"));
            bench.inbox.start(consumer);
            await().until(() -> bench.db.payments() == 2);
            bench.replayer(consumer);
            bench.anna().start("first", "payments", ReplaySpec.of("stored"));
            bench.awaited("first", ReplaySession.State.DONE);
            await().until(() -> bench.db.number("SELECT count(*) FROM idem_archive") == 4);
            bench.db.execute("DELETE FROM payment");
            InboxOperator anna = JdbcInbox.of(JdbcSchema.of(bench.db.plain())).as("anna", "request 113");

            assertThat(anna.erase("payments", shown(CANARY + "-1")).detail()).contains("the kept copy (2)");

            assertThat(leaks(bench.db)).isEmpty();
            bench.anna().start("second", "payments", ReplaySpec.of("stored"));
            ReplaySession.Counts counts =
                    bench.awaited("second", ReplaySession.State.DONE).counts();
            await().until(() -> bench.db.payments() == 1);
            assertThat(bench.db.payments("other")).isEqualTo(1);
            assertThat(counts.read())
                    .isEqualTo(
                            bench.replays.status("second").orElseThrow().total().orElseThrow());
            assertThat(counts.processed()).isEqualTo(1);
            assertThat(counts.read()).isEqualTo(2);
            assertThat(counts.suppressed()).isEqualTo(1);
            assertThat(bench.inbox.accept(consumer, message(CANARY + "-1"))).isInstanceOf(Outcome.Duplicate.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-08 what a worker has is left alone; results of steps and effects are erased, their verdict stays")
    void steps(Database database) throws Exception {
        try (StepBench bench = new StepBench(database)) {
            Consumer consumer = StepBench.consumer((message, steps) -> {
                steps.step("reserve", ResultCodec.text(), tx -> "reserved for " + CANARY);
                steps.effect("charge", ResultCodec.text(), key -> "charged " + CANARY);
                throw new TerminalException("no account of " + CANARY, null);
            });
            bench.store(consumer, message(CANARY + "-1"));
            bench.runThrough(consumer);
            assertThat(leaks(bench.db)).contains("step");
            JdbcInbox operator = JdbcInbox.of(JdbcSchema.of(bench.db.plain()));
            long id = operator.find("orders", CANARY + "-1").orElseThrow();
            InboxOperator anna = operator.as("anna", "request 113");
            String now = QueueSql.of(database).now();
            bench.db.execute("UPDATE idem_queue SET status = 1, due_at = " + now + " + 600000000, worker = 'w 7'");

            assertThat(anna.erase(id)).satisfies(answer -> {
                assertThat(answer.result()).isEqualTo(BUSY);
                assertThat(answer.detail()).contains("w 7");
            });
            assertThat(leaks(bench.db)).contains("step", "queue");
            bench.db.execute("UPDATE idem_queue SET status = 4, due_at = NULL");
            assertThat(anna.erase("orders", shown(CANARY + "-1")).result()).isEqualTo(CHANGED);

            assertThat(leaks(bench.db)).isEmpty();
            assertThat(bench.db.number("SELECT count(*) FROM idem_step WHERE kind = 1 AND state = 1"))
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-08 HX-14 a replay that brings an erased message again is not told null for the result of its effect")
    void erasedResults(Database database) {
        try (StepBench bench = new StepBench(database)) {
            List<String> receipts = Collections.synchronizedList(new ArrayList<>());
            AtomicInteger calls = new AtomicInteger();
            Consumer consumer = StepBench.consumer(
                    QueuePolicy.leased(StepBench.LEASE),
                    Policy.defaults().withReplay(Policy.Replay.ALLOWED),
                    (message, steps) -> receipts.add(String.valueOf(
                            steps.effect("charge", ResultCodec.text(), key -> "receipt " + calls.incrementAndGet()))));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            JdbcInbox operator = JdbcInbox.of(JdbcSchema.of(bench.db.plain()));
            assertThat(operator.as("anna", "request 113").erase("orders", "m1").result())
                    .isEqualTo(CHANGED);
            bench.session("again");
            bench.store(
                    consumer,
                    Db.message("m1").toBuilder().replaySession("again").build());
            bench.runThrough(consumer);
            assertThat(bench.isParked("STEPS_CHANGED")).isTrue();
            assertThat(receipts).containsExactly("receipt 1");
            assertThat(calls).hasValue(1);
        }
    }

    /** The tables in which the canary stands, in whatever column. */
    public static List<String> leaks(Db db) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(db.url())) {
            for (String table :
                    SchemaParts.wanted(JdbcSchema.resource(db.kind(), "")).keySet()) {
                try (Statement statement = connection.createStatement();
                        ResultSet rows = statement.executeQuery("SELECT * FROM idem_" + table)) {
                    if (leaks(rows)) {
                        found.add(table);
                    }
                }
            }
        }
        return found;
    }

    private static boolean leaks(ResultSet rows) throws SQLException {
        while (rows.next()) {
            for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                Object value = rows.getObject(i);
                String text = value instanceof byte[] || value instanceof java.sql.Blob
                        ? new String(rows.getBytes(i), StandardCharsets.ISO_8859_1)
                        : String.valueOf(value);
                if (text.contains(CANARY)) {
                    return true;
                }
            }
        }
        return false;
    }
}
