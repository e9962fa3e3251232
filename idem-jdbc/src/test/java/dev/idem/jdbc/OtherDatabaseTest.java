package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.RetryPolicy;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Sequence;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Only what our own connection meets is infrastructure; whatever else a handler meets is its failure, and counts. */
class OtherDatabaseTest {
    private static final RetryPolicy THRICE =
            RetryPolicy.fixed(Duration.ofMillis(1)).withMaxAttempts(3);

    private static final List<QueuePolicy> WAYS =
            List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofMinutes(1)));

    /** What goes wrong elsewhere. */
    private enum Trouble {
        REFUSED_PORT {
            @Override
            void meet(Transaction tx) throws Exception {
                DriverManager.getConnection("jdbc:postgresql://127.0.0.1:1/none?user=none&connectTimeout=2")
                        .close();
            }
        },
        ROLLED_BACK {
            @Override
            void meet(Transaction tx) throws Exception {
                try (Connection other = DriverManager.getConnection("jdbc:h2:mem:;USER=sa");
                        Statement statement = other.createStatement()) {
                    statement.execute("CREATE ALIAS undone FOR \"dev.idem.jdbc.Undone.raise\"");
                    statement.execute("CALL undone()");
                }
            }
        },
        SECOND_INBOX {
            @Override
            void meet(Transaction tx) {
                JdbcStore.builder(Db.plain("jdbc:postgresql://127.0.0.1:1/none?user=none&connectTimeout=2"))
                        .build();
            }
        };

        abstract void meet(Transaction tx) throws Exception;
    }

    private static Consumer consumer(QueuePolicy policy, Trouble trouble, AtomicInteger others) {
        return Consumer.named("payments")
                .queued(policy.withWorkers(1).withPoll(Duration.ofMillis(20)).withRetry(THRICE))
                .otherwise((Message message, Transaction tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    if (message.id().orElseThrow().equals("bad")) {
                        trouble.meet(tx);
                    } else {
                        others.incrementAndGet();
                    }
                    return null;
                })
                .build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-02 a fault of another database is an attempt: counted, recorded and parked; the others run once")
    void anotherDatabasesFaultCounts(Database database) {
        for (QueuePolicy way : WAYS) {
            for (Trouble trouble : Trouble.values()) {
                try (Db db = Db.fresh(database);
                        Inbox inbox = db.inbox(db.pool(6))) {
                    AtomicInteger others = new AtomicInteger();
                    Consumer consumer = consumer(way, trouble, others);
                    inbox.acceptAll(consumer, List.of(Db.message("a"), Db.message("bad"), Db.message("b")));
                    inbox.start(consumer);
                    await(trouble + " " + way)
                            .atMost(Duration.ofSeconds(20))
                            .until(() -> inbox.queueStats("payments").parked() == 1 && db.payments() == 2);
                    assertThat(db.number("SELECT count(*) FROM idem_queue WHERE reason = 'EXHAUSTED'"))
                            .isEqualTo(1);
                    assertThat(db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(3);
                    assertThat(others).as("runs of the two others").hasValue(2);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-02 at the door a fault of another database is the handler's own failure, after one run")
    void anotherDatabasesFaultAtTheDoor(Database database) {
        for (Trouble trouble : Trouble.values()) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = db.inbox(db.pool(6))) {
                AtomicInteger runs = new AtomicInteger();
                Consumer consumer = Consumer.named("payments")
                        .otherwise((Message message, Transaction tx) -> {
                            runs.incrementAndGet();
                            Db.pay(tx.connection(), "never");
                            trouble.meet(tx);
                            return null;
                        })
                        .build();
                assertThat(inbox.accept(consumer, Db.message("1")))
                        .isInstanceOfSatisfying(
                                Outcome.Failed.class,
                                failed -> assertThat(failed.kind()).isEqualTo(Failure.RETRYABLE));
                assertThat(runs).hasValue(1);
                assertThat(db.payments()).isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-02 a step that meets a fault of another database is counted, and parked in the end")
    void inAStep(Database database) {
        try (StepBench bench = new StepBench(database)) {
            Consumer consumer = StepBench.consumer((message, steps) -> steps.step("book", tx -> {
                Db.pay(tx.connection(), "never");
                Trouble.ROLLED_BACK.meet(tx);
            }));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(bench.isParked("EXHAUSTED")).isTrue();
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(5);
            assertThat(bench.db.payments()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a beginning that is looked up in another database which is away is a failure of the message")
    void inALookup(Database database) {
        try (SequenceBench bench = new SequenceBench(database)) {
            Sequence sequence = Sequence.by(Message::orderingKey, Sequence.header("version"))
                    .startingAt(Sequence.Start.lookup(stream -> {
                        throw new IllegalStateException("away", new SQLException("elsewhere", "08006"));
                    }));
            Consumer consumer = bench.queued(
                    QueuePolicy.inTransaction().withPoll(Duration.ofMillis(20)).withRetry(THRICE), sequence);
            bench.inbox.accept(consumer, SequenceBench.message("s", 1, ""));
            bench.inbox.start(consumer);
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> bench.inbox.queueStats("chain").parked() == 1);
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-02 a message that our own database undoes loses no attempt, but its row and a warning say why")
    void ourOwnFaultIsSaid(Database database) {
        for (QueuePolicy way : WAYS) {
            try (Db db = Db.fresh(database);
                    CapturedLog log = CapturedLog.of("dev.idem");
                    Inbox inbox = db.inbox(db.pool(6))) {
                AtomicInteger runs = new AtomicInteger();
                Consumer consumer = Consumer.named("payments")
                        .policy(dev.idem.Policy.defaults().withMaxRuns(1))
                        .queued(way.withWorkers(1)
                                .withPoll(Duration.ofMillis(20))
                                .withRetry(THRICE))
                        .otherwise((Message message, Transaction tx) -> {
                            runs.incrementAndGet();
                            Undone.by(tx.connection());
                            return null;
                        })
                        .build();
                inbox.acceptAll(consumer, List.of(Db.message("1")));
                inbox.start(consumer);
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> runs.get() >= 3
                                && db.number("SELECT count(*) FROM idem_queue WHERE reason = 'UNDONE'"
                                                + " AND failed = 0 AND error IS NOT NULL")
                                        == 1);
                assertThat(db.number("SELECT count(*) FROM idem_attempt")).isZero();
                assertThat(log.everything())
                        .filteredOn(line -> line.contains("given back without an attempt"))
                        .hasSize(1)
                        .first()
                        .asString()
                        .contains("SQL");
            }
        }
    }
}
