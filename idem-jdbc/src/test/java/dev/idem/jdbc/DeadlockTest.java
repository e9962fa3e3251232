package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.test.fault.FaultyDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A deadlock is ordinary: what it has undone runs again, on the same connection, and nobody is told of an outage. */
class DeadlockTest {
    private static final List<Message> BATCH =
            Stream.of("first", "second", "third").map(Db::message).toList();

    private final AtomicInteger runs = new AtomicInteger();
    private final Queue<Throwable> told = new ConcurrentLinkedQueue<>();
    private final AtomicInteger ranAgain = new AtomicInteger();
    private final InboxListener listener = new InboxListener() {
        @Override
        public void transactionBroken(String consumer, BrokenTransactionException cause) {
            told.add(cause);
        }

        @Override
        public void workersPaused(String consumer, Throwable cause) {
            told.add(cause);
        }

        @Override
        public void ranAgain(String consumer, int nextRun, Throwable cause) {
            ranAgain.incrementAndGet();
        }
    };

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("MY-06 a batch that lost a deadlock starts over once, whole, and on a connection that is kept")
    void aBatchStartsOver(Database database) throws Exception {
        try (Bench bench = new Bench(database)) {
            List<Outcome<?>> outcomes = bench.deliver((db, tx) -> Deadlock.lose(db, tx.connection()));
            assertThat(outcomes).allMatch(Outcome.Processed.class::isInstance);
            assertThat(bench.db.payments()).isEqualTo(3);
            assertThat(runs).as("runs of the handlers").hasValue(5);
            assertThat(ranAgain).as("times it started over").hasValue(1);
            bench.checkConnection();
        }
    }

    @Test
    @DisplayName("MY-06 a deadlock that a handler swallowed fails that message alone, and keeps the connection")
    void aSwallowedDeadlockFailsAlone() throws Exception {
        try (Bench bench = new Bench(Database.MARIADB)) {
            List<Outcome<?>> outcomes = bench.deliver((db, tx) -> {
                try {
                    Deadlock.lose(db, tx.connection());
                } catch (SQLException swallowed) {
                    return;
                }
                throw new AssertionError("no deadlock");
            });
            assertThat(outcomes.get(0)).isInstanceOf(Outcome.Processed.class);
            assertThat(outcomes.get(1))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> assertThat(failed.cause()).isInstanceOf(BrokenTransactionException.class));
            assertThat(outcomes.get(2)).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.db.payments()).isEqualTo(2);
            told.clear(); // that one is deserved
            bench.checkConnection();
        }
    }

    @Test
    @DisplayName("PC-09 a deadlock does not cover up a hidden commit before it")
    void aHiddenCommitBeforeADeadlockIsFoundOut() throws Exception {
        try (Bench bench = new Bench(Database.MARIADB)) {
            bench.db.execute("CREATE PROCEDURE sneaky() BEGIN COMMIT; END");
            List<Outcome<?>> outcomes = bench.deliver((db, tx) -> {
                tx.connection().prepareStatement("CALL sneaky()").execute();
                Deadlock.lose(db, tx.connection());
            });
            assertThat(outcomes.get(0)).isInstanceOf(Outcome.Processed.class);
            assertThat(outcomes.get(1))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> assertThat(failed.kind()).isEqualTo(Failure.TERMINAL));
            assertThat(outcomes.get(2)).isInstanceOf(Outcome.Processed.class);
            for (String id : List.of("first", "second", "third")) {
                assertThat(bench.db.payments(id)).as(id).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("MY-06 a deadlock at any statement of a worker is no outage: its workers do not pause")
    void aDeadlockOfAWorkerIsNoOutage(Database database) throws Exception {
        for (QueuePolicy policy : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)))) {
            try (Db db = Db.fresh(database);
                    ReusingPool pool = new ReusingPool(6, db.plain())) {
                DeadlockedDataSource source = new DeadlockedDataSource(database, pool.dataSource());
                try (Inbox inbox = Inbox.builder(db.store(source.dataSource()))
                                .listener(listener)
                                .build();
                        CapturedLog log = CapturedLog.of(Inbox.class)) {
                    Consumer consumer = Consumer.named("payments")
                            .queued(policy.withWorkers(1))
                            .otherwise((message, tx) -> {
                                Db.pay(tx.connection(), message.id().orElseThrow());
                                return null;
                            })
                            .build();
                    inbox.start(consumer);
                    for (int n = 1; n <= 25; n++) {
                        String id = "m" + n;
                        source.loseAt(n);
                        inbox.accept(consumer, Db.message(id));
                        await().atMost(Duration.ofSeconds(20)).until(() -> db.payments(id) == 1);
                    }
                    await().atMost(Duration.ofSeconds(20)).until(source::hasLost);
                    assertThat(told).isEmpty();
                    assertThat(log.warnings()).isEmpty();
                    assertThat(pool.tornDown()).as("connections torn down").isZero();
                }
            }
        }
    }

    private interface FirstRun {
        void in(Db db, Transaction tx) throws Exception;
    }

    /** A batch of three of which the second meets something in its first run. */
    private final class Bench implements AutoCloseable {
        final Db db;
        private final ReusingPool pool;
        private final FaultyDataSource traced;
        private final Inbox inbox;

        Bench(Database database) {
            db = Db.fresh(database);
            Deadlock.prepare(db);
            pool = new ReusingPool(1, db.plain());
            traced = FaultyDataSource.around(pool.dataSource());
            inbox = Inbox.builder(db.store(traced)).listener(listener).build();
        }

        List<Outcome<?>> deliver(FirstRun firstRun) {
            AtomicInteger seconds = new AtomicInteger();
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withHandlerTimeout(Duration.ofMinutes(2)))
                    .otherwise((message, tx) -> {
                        runs.incrementAndGet();
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        if (message.equals(BATCH.get(1)) && seconds.incrementAndGet() == 1) {
                            firstRun.in(db, tx);
                        }
                        return null;
                    })
                    .build();
            inbox.register(consumer);
            traced.reset();
            return inbox.acceptAll(consumer, BATCH);
        }

        void checkConnection() {
            assertThat(told).isEmpty();
            assertThat(pool.tornDown()).as("connections torn down").isZero();
            assertThat(pool.opened()).as("connections opened").isEqualTo(1);
            assertThat(pool.trespasses()).isEmpty();
            if (db.kind() == Database.MARIADB) {
                assertThat(traced.trace())
                        .as("the savepoint went with the transaction")
                        .noneMatch(call -> call.contains("ROLLBACK TO"));
            }
        }

        @Override
        public void close() {
            inbox.close();
            pool.close();
            db.close();
        }
    }
}
