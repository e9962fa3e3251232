package dev.idem.jdbc.admin;

import static dev.idem.jdbc.EraseTest.CANARY;
import static dev.idem.jdbc.EraseTest.leaks;
import static dev.idem.jdbc.EraseTest.message;
import static dev.idem.jdbc.admin.InboxAnswer.Result.CHANGED;
import static dev.idem.jdbc.admin.InboxAnswer.Result.UNCHANGED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.TerminalException;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.OutputIdentityTest;
import dev.idem.jdbc.ReplayBench;
import dev.idem.jdbc.StepBench;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where the id of an erased message stands beside the message itself. */
class ErasedIdsTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-08 the markers that replay sessions have made of an erased message do not say its id")
    void markersOfSessions(Database database) throws Exception {
        Consumer consumer = ReplayBench.paying(Policy.Replay.ALLOWED).build();
        try (ReplayBench bench = new ReplayBench(database)) {
            Message other = message("other").toBuilder().source("shop").build();
            bench.given.addAll(List.of(message(CANARY + "=1/x"), other));
            bench.given.forEach(message -> bench.inbox.accept(consumer, message));
            bench.replayer(consumer);
            for (String session : List.of("s1", "s2")) {
                bench.anna().start(session, "payments", ReplayBench.GIVEN);
                bench.awaited(session, ReplaySession.State.DONE);
            }
            assertThat(bench.db.payments()).isEqualTo(6);
            String id = bench.db.text("SELECT readable FROM idem_marker WHERE readable LIKE '%alice%'"
                    + " AND readable NOT LIKE '%replay=%'");

            InboxOperator anna = JdbcInbox.of(JdbcSchema.of(bench.db.plain())).as("anna", "request 113");
            assertThat(anna.dryRun().erase("payments", id).detail()).contains("the readable key (3)");
            assertThat(anna.erase("payments", id).result()).isEqualTo(CHANGED);

            assertThat(leaks(bench.db)).isEmpty();
            assertThat(bench.db.number("SELECT count(*) FROM idem_marker WHERE readable LIKE '%other%'"))
                    .isEqualTo(3);
            for (Message again : List.of(bench.given.get(0), ReplayBench.of(bench.given.get(0), "s2"))) {
                assertThat(bench.inbox.accept(consumer, again)).isInstanceOf(Outcome.Duplicate.class);
            }
            assertThat(anna.erase("payments", id).result()).isEqualTo(UNCHANGED);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-08 SE-04 what a replay session says of its last failure does not name an erased message")
    void errorsOfSessions(Database database) throws Exception {
        Consumer consumer = Consumer.named("payments")
                .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
                .otherwise((message, tx) -> {
                    if (message.replaySession().isPresent()) {
                        throw new TerminalException("no account", null);
                    }
                    Db.pay(tx.connection(), "somebody");
                    return null;
                })
                .build();
        try (ReplayBench bench = new ReplayBench(database)) {
            bench.replayer(consumer);
            Map<String, String> sessions = Map.of("first", CANARY + "/1" + "x".repeat(230), "second", "other");
            sessions.forEach((session, id) -> {
                bench.given.clear();
                bench.given.add(message(id));
                bench.inbox.accept(consumer, message(id));
                bench.anna().start(session, "payments", ReplayBench.GIVEN);
                bench.awaited(session, ReplaySession.State.DONE);
            });
            assertThat(leaks(bench.db)).contains("replay");
            String id = bench.db.text("SELECT readable FROM idem_marker WHERE readable LIKE '%alice%'");

            InboxOperator anna = JdbcInbox.of(JdbcSchema.of(bench.db.plain())).as("anna", "request 113");
            assertThat(anna.erase("payments", id).detail()).contains("what replay sessions say of it (1)");

            assertThat(leaks(bench.db)).isEmpty();
            assertThat(bench.replays.status("first").orElseThrow().error()).contains("erased");
            assertThat(bench.replays.status("second").orElseThrow().error().orElseThrow())
                    .startsWith("message source=shop/id=other: ");
            bench.inbox.accept(consumer, message("othe"));
            anna.erase("payments", "source=shop/id=othe");
            assertThat(bench.replays.status("second").orElseThrow().error().orElseThrow())
                    .as("of a message whose id only begins so")
                    .startsWith("message source=shop/id=other: ");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-08 what an erased message has published is published without its id, and what belongs together is seen to")
    void causes(Database database) throws Exception {
        Outbox mail = Outbox.named("mail").unordered();
        Consumer consumer = Consumer.named("payments")
                .publishesTo(mail)
                .otherwise((message, tx) -> {
                    tx.publish("mail", Message.builder().payload(new byte[1]).build());
                    return null;
                })
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(4))) {
            for (String id : List.of(CANARY + "=1/x", "other")) {
                inbox.accept(consumer, message(id));
            }
            inbox.accept(
                    consumer,
                    Db.message("behind").toBuilder()
                            .header(Outbox.CORRELATION_ID, CANARY + "=1/x")
                            .build());
            InboxOperator anna = JdbcInbox.of(JdbcSchema.of(db.plain())).as("anna", "request 113");
            long waiting = db.number("SELECT min(id) FROM idem_queue");
            anna.park(waiting);
            for (String value : List.of("one", "two")) {
                anna.edit(waiting, InboxEdit.nothing().header("greeting", value));
            }
            anna.retry(waiting);
            assertThat(leaks(db)).contains("queue", "revision");
            String id = db.text("SELECT readable FROM idem_marker WHERE readable LIKE '%alice%'");

            assertThat(anna.dryRun().erase("payments", id).detail()).contains("causes of what is to be published (4)");
            assertThat(anna.erase("payments", id).result()).isEqualTo(CHANGED);

            assertThat(leaks(db)).isEmpty();
            List<Message> published = OutputIdentityTest.published(db);
            assertThat(published).hasSize(3);
            assertThat(published.get(0).header(Outbox.CAUSATION_ID).orElseThrow())
                    .isEqualTo(published.get(0).header(Outbox.CORRELATION_ID).orElseThrow())
                    .isEqualTo(published.get(2).header(Outbox.CORRELATION_ID).orElseThrow());
            assertThat(published.get(1).header(Outbox.CAUSATION_ID)).contains("other");
            assertThat(published.get(2).header(Outbox.CAUSATION_ID)).contains("behind");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-08 an erasure that meets an edit keeps what was edited, and erases what the edit has kept")
    void erasedWhileEdited(Database database) throws Exception {
        Outbox mail = Outbox.named("mail").unordered();
        Consumer consumer = Consumer.named("payments")
                .publishesTo(mail)
                .otherwise((message, tx) -> {
                    tx.publish("mail", Message.builder().payload(new byte[1]).build());
                    return null;
                })
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(4));
                Connection editing = DriverManager.getConnection(db.url())) {
            inbox.accept(consumer, message(CANARY + "-1"));
            JdbcInbox operator = JdbcInbox.of(JdbcSchema.of(db.plain()));
            long waiting = db.number("SELECT id FROM idem_queue");
            operator.as("bob", "greets").park(waiting);
            String id = db.text("SELECT readable FROM idem_marker");

            editing.setAutoCommit(false);
            editing.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            InboxEdit edit = InboxEdit.nothing().header("greeting", "hello");
            Tables tables = db.tables();
            assertThat(new InboxEditing(tables)
                            .edit(editing, waiting, edit, "bob", "greets", false)
                            .result())
                    .isEqualTo(CHANGED);
            CompletableFuture<InboxAnswer> erasing = CompletableFuture.supplyAsync(
                    () -> operator.as("anna", "request 113").erase("payments", id));
            db.awaitBlocked(1);
            editing.commit();

            assertThat(erasing.get(30, TimeUnit.SECONDS).result()).isEqualTo(CHANGED);
            assertThat(leaks(db)).isEmpty();
            operator.as("bob", "greets").retry(waiting);
            assertThat(OutputIdentityTest.published(db))
                    .singleElement()
                    .satisfies(message -> assertThat(message.header("greeting")).contains("hello"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-08 the id by which other messages name an erased one is found in its stored form, whatever its key is")
    void causesOfBusinessKeys(Database database) throws Exception {
        Outbox mail = Outbox.named("mail").unordered();
        Consumer consumer = Consumer.named("payments")
                .key(KeySelector.business(message -> List.of("7731")))
                .queued(QueuePolicy.inTransaction()
                        .withPoll(Duration.ofMillis(20))
                        .withPayloadWindow(Duration.ofDays(1)))
                .publishesTo(mail)
                .otherwise((message, tx) -> {
                    tx.publish("mail", Message.builder().payload(new byte[1]).build());
                    return null;
                })
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(4))) {
            inbox.accept(consumer, message(CANARY + "-1"));
            inbox.start(consumer);
            StepBench.until(() -> db.number("SELECT count(*) FROM idem_archive") == 1);
            long id = db.number("SELECT id FROM idem_archive");
            InboxOperator anna = JdbcInbox.of(JdbcSchema.of(db.plain())).as("anna", "request 113");
            assertThat(anna.erase(id).result()).isEqualTo(CHANGED);
            assertThat(leaks(db)).isEmpty();
        }
    }
}
