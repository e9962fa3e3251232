package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcAudit;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.admin.ReplayOperator;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySession.State;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
import dev.idem.replay.Replayer;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which stored messages belong to a session: those that were completed before it, whatever any clock says. */
class ReplayBoundTest {
    private static final ReplaySpec STORED = ReplaySpec.of("stored");
    private static final Duration KEPT = Duration.ofDays(1);

    private static Consumer paying() {
        return ReplayBench.paying(Policy.Replay.ALLOWED)
                .queued(QueuePolicy.inTransaction()
                        .withPoll(Duration.ofMillis(20))
                        .withPayloadWindow(KEPT))
                .build();
    }

    private static boolean isEmpty(Db db) {
        return db.number("SELECT count(*) FROM idem_queue") == 0;
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-04 LS-09 a session brings what was completed before it, although the database's clock has gone back since")
    void aClockThatGoesBack(Database database) {
        Consumer consumer = paying();
        try (ReplayBench bench = new ReplayBench(database)) {
            bench.inbox.acceptAll(consumer, ReplayBench.messages(5));
            bench.inbox.start(consumer);
            await().until(() -> isEmpty(bench.db));
            bench.db.execute(
                    "UPDATE idem_archive SET completed_at = completed_at + 2000000 WHERE readable > 'm1'",
                    "DELETE FROM payment");
            bench.anna().start("rebuild", "payments", STORED);
            bench.replayer(consumer);
            bench.awaited("rebuild", State.DONE);
            await().until(() -> isEmpty(bench.db));
            assertThat(bench.db.payments()).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("large stored messages are read as many at a time as may be in memory together, and each of them")
    void largeMessages(Database database) {
        try (ReplayBench bench = new ReplayBench(database)) {
            List<String> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                int size = i == 2 ? 3 << 20 : i == 5 ? 10 : 1 << 20;
                Message message =
                        Message.builder().id("m" + i).payload(new byte[size]).build();
                bench.inbox.accept(paying(), message);
                all.add("m" + i + " " + size);
            }
            bench.inbox.start(paying());
            await().until(() -> isEmpty(bench.db));
            ReplaySession session = bench.anna().start("rebuild", "payments", STORED);
            List<String> found = new ArrayList<>();
            try (ReplaySource.Reading reading =
                    JdbcReplays.stored(JdbcSchema.of(bench.db.plain())).open(session, STORED)) {
                boolean end = false;
                while (!end) {
                    ReplaySource.Batch batch = reading.next(100);
                    batch.messages().forEach(m -> found.add(m.id().orElseThrow() + " " + m.payload().length));
                    assertThat(batch.messages()).hasSizeLessThan(6);
                    end = batch.end();
                }
            }
            assertThat(found).containsExactlyElementsOf(all);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-04 LS-09 a session brings nothing that was completed after it, although the clock says it was before")
    void aClockThatGoesBackAfterwards(Database database) {
        Consumer consumer = paying();
        try (ReplayBench bench = new ReplayBench(database)) {
            bench.registered(consumer);
            bench.anna().start("rebuild", "payments", STORED);
            bench.db.execute("UPDATE idem_replay SET created_at = created_at + 3600000000");
            bench.inbox.start(consumer);
            bench.inbox.accept(consumer, ReplayBench.message("later"));
            await().until(() -> bench.db.payments("later") == 1);
            bench.replayer(consumer);
            bench.awaited("rebuild", State.DONE);
            await().until(() -> isEmpty(bench.db));
            assertThat(bench.db.payments("later")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-04 no session begins while a message is half done, and afterwards nothing of it is lost or doubled")
    void halfDone(Database database) throws Exception {
        CountDownLatch between = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Consumer consumer = StepBench.consumer(
                QueuePolicy.leased(StepBench.LEASE).withPayloadWindow(KEPT),
                Policy.defaults().withReplay(Policy.Replay.ALLOWED),
                (message, steps) -> {
                    steps.step("reserve", tx -> Db.pay(tx.connection(), "reserved"));
                    between.countDown();
                    Together.await(goOn);
                    steps.step("book", tx -> Db.pay(tx.connection(), "booked"));
                });
        try (StepBench bench = new StepBench(database)) {
            ReplayOperator anna =
                    JdbcReplays.of(JdbcSchema.of(bench.db.plain())).as("anna", "the sums were wrong");
            bench.store(consumer, "m1");
            try (Inbox inbox = bench.start(consumer)) {
                Together.await(between);
                assertThatThrownBy(() -> anna.start("early", "orders", STORED))
                        .isInstanceOf(IdemException.class)
                        .hasMessageContaining("1 messages of orders");
                anna.dryRun().start("looking", "orders", STORED);
                goOn.countDown();
                StepBench.until(bench::isQuiet);
                bench.db.execute("DELETE FROM payment");
                anna.start("rebuild", "orders", STORED);
                try (Replayer replayer = Replayer.builder(inbox)
                        .consumer(consumer)
                        .source(JdbcReplays.stored(JdbcSchema.of(bench.db.plain())))
                        .poll(Duration.ofMillis(50))
                        .start()) {
                    StepBench.until(
                            () -> bench.db.number("SELECT count(*) FROM idem_replay WHERE status = 'DONE'") == 2);
                    StepBench.until(bench::isQuiet);
                }
            }
            for (String step : List.of("reserved", "booked")) {
                assertThat(bench.db.payments(step)).as(step).isEqualTo(1);
            }
        }
    }

    private static Consumer reserving(boolean fails) {
        return StepBench.consumer(
                QueuePolicy.leased(StepBench.LEASE).withPayloadWindow(KEPT),
                Policy.defaults().withReplay(Policy.Replay.ALLOWED),
                (message, steps) -> {
                    String id = message.id().orElseThrow();
                    steps.step("reserve", tx -> Db.pay(tx.connection(), id + " reserved"));
                    if (fails && id.equals("m1")) {
                        throw new TerminalException("no", null);
                    }
                    steps.step("book", tx -> Db.pay(tx.connection(), id + " booked"));
                });
    }

    private static void rebuild(StepBench bench, Consumer consumer, String session) {
        bench.db.execute("DELETE FROM payment");
        ReplayOperator anna = JdbcReplays.of(JdbcSchema.of(bench.db.plain())).as("anna", "the sums were wrong");
        anna.start(session, "orders", STORED);
        try (Inbox inbox = bench.start(consumer);
                Replayer replayer = Replayer.builder(inbox)
                        .consumer(consumer)
                        .source(JdbcReplays.stored(JdbcSchema.of(bench.db.plain())))
                        .poll(Duration.ofMillis(50))
                        .start()) {
            StepBench.until(() -> bench.db.number(
                            "SELECT count(*) FROM idem_replay WHERE status = 'DONE' AND name = '" + session + "'")
                    == 1);
            StepBench.until(bench::isQuiet);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 a message that was given up half way does all of its steps when it is retried after a rebuild")
    void skippedHalfWay(Database database) {
        try (StepBench bench = new StepBench(database)) {
            bench.store(reserving(true), "m1");
            bench.store(reserving(true), "m2");
            bench.runThrough(reserving(true));
            InboxOperator anna = JdbcInbox.of(JdbcSchema.of(bench.db.plain())).as("anna", "not now");
            long m1 = bench.db.number("SELECT id FROM idem_queue WHERE readable = 'm1'");
            anna.skip(m1);
            rebuild(bench, reserving(false), "july");
            anna.retry(m1);
            bench.runThrough(reserving(false));
            for (String step : List.of("m1 reserved", "m1 booked", "m2 reserved", "m2 booked")) {
                assertThat(bench.db.payments(step)).as(step).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 what an earlier session has left parked half way does not keep the next one from starting")
    void parkedCopies(Database database) {
        try (StepBench bench = new StepBench(database)) {
            bench.store(reserving(false), "m1");
            bench.runThrough(reserving(false));
            rebuild(bench, reserving(true), "july");
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 4"))
                    .isEqualTo(1);
            rebuild(bench, reserving(false), "august");
            for (String step : List.of("m1 reserved", "m1 booked")) {
                assertThat(bench.db.payments(step)).as(step).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 a transaction that has read before does not overlook what is half done since")
    void repeatableRead(Database database) throws Exception {
        try (StepBench bench = new StepBench(database);
                Connection connection = bench.db.plain().getConnection()) {
            bench.store(reserving(true), "m1");
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            connection.setAutoCommit(false);
            connection.createStatement().executeQuery("SELECT count(*) FROM payment");
            bench.runThrough(reserving(true));
            assertThatThrownBy(() -> JdbcReplays.of(JdbcSchema.of(bench.db.plain()))
                            .as("anna", "the sums were wrong")
                            .startWithin(connection, "july", "orders", STORED))
                    .hasMessageContaining(database == Database.MARIADB ? "1 messages of orders" : "READ COMMITTED");
            connection.rollback();
        }
    }

    /** Fails behind its first step: for good, or until the next attempt in an hour. */
    private static Consumer stopping(AtomicBoolean mended) {
        return Consumer.named("orders")
                .queued(QueuePolicy.leased(StepBench.LEASE)
                        .withPayloadWindow(KEPT)
                        .withPoll(Duration.ofMillis(50))
                        .withRetry(RetryPolicy.fixed(Duration.ofHours(1))))
                .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
                .otherwiseSteps((message, steps) -> {
                    String id = message.id().orElseThrow();
                    steps.step("reserve", tx -> Db.pay(tx.connection(), id + " reserved"));
                    if (!mended.get() && id.equals("parked")) {
                        throw new TerminalException("no", null);
                    }
                    if (!mended.get() && id.equals("waiting")) {
                        throw new IllegalStateException("not yet");
                    }
                    steps.step("book", tx -> Db.pay(tx.connection(), id + " booked"));
                })
                .build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-04 what is half done begins again with a rebuild, if a person wants that, and nothing is lost or doubled")
    void halfDoneBeginsAgain(Database database) throws Exception {
        AtomicBoolean mended = new AtomicBoolean();
        Consumer consumer = stopping(mended);
        try (StepBench bench = new StepBench(database);
                Connection connection = bench.db.plain().getConnection()) {
            for (String id : List.of("done", "parked", "waiting")) {
                bench.store(consumer, id);
            }
            try (Inbox inbox = bench.start(consumer)) {
                StepBench.until(() -> bench.db.number("SELECT count(*) FROM idem_queue WHERE status IN (2, 4)") == 2
                        && bench.db.payments() == 4);
                connection.setAutoCommit(false);
                connection.createStatement().executeUpdate("DELETE FROM payment");
                ReplayOperator anna =
                        JdbcReplays.of(JdbcSchema.of(bench.db.plain())).as("anna", "the sums were wrong");
                assertThatThrownBy(() -> anna.startWithin(connection, "july", "orders", STORED))
                        .hasMessageContaining("2 messages of orders")
                        .hasMessageContaining("restartingHalfDone");
                anna.restartingHalfDone().startWithin(connection, "july", "orders", STORED);
                connection.commit();
                mended.set(true);
                bench.db.execute("UPDATE idem_queue SET due_at = 0 WHERE status = 2");
                JdbcInbox people = JdbcInbox.of(JdbcSchema.of(bench.db.plain()));
                people.as("anna", "mended")
                        .retry(people.find("orders", "parked").orElseThrow());
                try (Replayer replayer = Replayer.builder(inbox)
                        .consumer(consumer)
                        .source(JdbcReplays.stored(JdbcSchema.of(bench.db.plain())))
                        .poll(Duration.ofMillis(50))
                        .start()) {
                    StepBench.until(
                            () -> bench.db.number("SELECT count(*) FROM idem_replay WHERE status = 'DONE'") == 1);
                    StepBench.until(bench::isQuiet);
                }
            }
            for (String id : List.of("done", "parked", "waiting")) {
                assertThat(bench.db.payments(id + " reserved")).as(id).isEqualTo(1);
                assertThat(bench.db.payments(id + " booked")).as(id).isEqualTo(1);
            }
            assertThat(JdbcAudit.of(JdbcSchema.of(bench.db.plain())).newest())
                    .anyMatch(entry -> String.valueOf(entry.detail()).endsWith("2 half-done begin again"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-04 a half-done message that a worker has now, or that is outside of the session's times, is left alone")
    void halfDoneElsewhere(Database database) throws Exception {
        CountDownLatch between = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Consumer consumer = StepBench.consumer(
                QueuePolicy.leased(StepBench.LEASE).withPayloadWindow(KEPT),
                Policy.defaults().withReplay(Policy.Replay.ALLOWED),
                (message, steps) -> {
                    steps.step("reserve", tx -> Db.pay(tx.connection(), "reserved"));
                    between.countDown();
                    Together.await(goOn);
                    steps.step("book", tx -> Db.pay(tx.connection(), "booked"));
                });
        try (StepBench bench = new StepBench(database)) {
            ReplayOperator anna = JdbcReplays.of(JdbcSchema.of(bench.db.plain()))
                    .as("anna", "the sums were wrong")
                    .restartingHalfDone();
            bench.store(consumer, "m1");
            try (Inbox inbox = bench.start(consumer)) {
                Together.await(between);
                assertThatThrownBy(() -> anna.start("early", "orders", STORED))
                        .isInstanceOf(IdemException.class)
                        .hasMessageContaining("Workers have some of them now");
                assertThat(bench.db.number("SELECT count(*) FROM idem_step")).isEqualTo(1);
                goOn.countDown();
                StepBench.until(bench::isQuiet);
            }
            assertThat(bench.db.payments("reserved")).isEqualTo(1);
            assertThat(bench.db.payments("booked")).isEqualTo(1);
        }
        try (StepBench bench = new StepBench(database)) {
            ReplayOperator anna = JdbcReplays.of(JdbcSchema.of(bench.db.plain()))
                    .as("anna", "the sums were wrong")
                    .restartingHalfDone();
            bench.store(reserving(true), "m1");
            bench.runThrough(reserving(true));
            assertThatThrownBy(() -> anna.start("old", "orders", ReplaySpec.parse("stored:to=2020-01-01T00:00:00Z")))
                    .hasMessageContaining("outside of the session's times");
            assertThat(bench.db.number("SELECT count(*) FROM idem_step")).isEqualTo(1);
        }
    }
}
