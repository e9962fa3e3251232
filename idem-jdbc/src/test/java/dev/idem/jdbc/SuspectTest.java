package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages that were running when their process ended: one of them may be why, and the others must not pay for it. */
class SuspectTest {
    private static final List<QueuePolicy> WAYS =
            List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofMinutes(1)));

    /** As a sweep leaves them that finds a dead worker's note. */
    private static void crashed(Db db) {
        db.execute("UPDATE idem_queue SET started = 1, fence = fence + 1");
    }

    private static QueuePolicy policy(QueuePolicy way, int maxAttempts) {
        return way.withWorkers(4)
                .withPoll(Duration.ofMillis(20))
                .withRetry(RetryPolicy.fixed(Duration.ofMillis(1)).withMaxAttempts(maxAttempts));
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-04 after a crash suspects run one at a time in a process, so that the next crash tells which it is")
    void oneAtATime(Database database) {
        for (QueuePolicy way : WAYS) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = db.inbox(db.pool(10))) {
                AtomicInteger running = new AtomicInteger();
                AtomicInteger most = new AtomicInteger();
                CountDownLatch another = new CountDownLatch(1);
                Consumer consumer = Consumer.named("payments")
                        .queued(policy(way, 1))
                        .otherwise((Message message, Transaction tx) -> {
                            String id = message.id().orElseThrow();
                            if (id.equals("innocent")) {
                                another.countDown();
                            } else {
                                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                                another.await(20, TimeUnit.SECONDS);
                                running.decrementAndGet();
                            }
                            Db.pay(tx.connection(), id);
                            return null;
                        })
                        .build();
                List<Message> suspects = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    suspects.add(Db.message("suspect" + i));
                }
                inbox.acceptAll(consumer, suspects);
                crashed(db);
                inbox.accept(consumer, Db.message("innocent"));
                inbox.start(consumer);
                await().atMost(Duration.ofSeconds(40)).until(() -> db.payments() == 9);
                assertThat(most).as("suspects that ran side by side").hasValue(1);
                assertThat(inbox.queueStats("payments").parked()).isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-04 a start inside a batch whose process ended is no attempt: one real failure of two leaves another")
    void aStartInABatchIsNoAttempt(Database database) {
        for (QueuePolicy way : WAYS) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = db.inbox(db.pool(10))) {
                AtomicInteger runs = new AtomicInteger();
                Consumer consumer = Consumer.named("payments")
                        .queued(policy(way, 2))
                        .otherwise((Message message, Transaction tx) -> {
                            Db.pay(tx.connection(), "paid");
                            if (runs.incrementAndGet() == 1) {
                                throw new IllegalStateException("the first real failure");
                            }
                            return null;
                        })
                        .build();
                inbox.accept(consumer, Db.message("1"));
                crashed(db);
                inbox.start(consumer);
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> db.number("SELECT count(*) FROM idem_queue WHERE status < 4") == 0);
                assertThat(db.payments()).isEqualTo(1);
                assertThat(inbox.queueStats("payments").parked()).isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"}) // the other runs in this process, where nothing can be cut
    @DisplayName("RO-11 a connection that is lost in the middle of a handler is no attempt, also of a suspect")
    void aLostConnectionIsNoAttempt(Database database) {
        for (QueuePolicy way : WAYS) {
            for (boolean suspect : List.of(false, true)) {
                try (Db db = Db.fresh(database);
                        Inbox inbox = db.inbox(db.pool(10))) {
                    AtomicInteger runs = new AtomicInteger();
                    Consumer consumer = Consumer.named("payments")
                            .policy(Policy.defaults().withMaxRuns(1)) // each loss is seen by the queue
                            .queued(policy(way, 1).withWorkers(1))
                            .otherwise((Message message, Transaction tx) -> {
                                Db.pay(tx.connection(), "paid");
                                if (runs.incrementAndGet() <= 2) {
                                    loseConnection(database, tx.connection());
                                }
                                return null;
                            })
                            .build();
                    inbox.accept(consumer, Db.message("1"));
                    if (suspect) {
                        crashed(db);
                    }
                    inbox.start(consumer);
                    await().atMost(Duration.ofSeconds(40))
                            .until(() -> db.number("SELECT count(*) FROM idem_queue WHERE status < 4") == 0);
                    assertThat(inbox.queueStats("payments").parked()).isZero();
                    assertThat(db.payments()).isEqualTo(1);
                    assertThat(runs).hasValue(3);
                    assertThat(db.number("SELECT count(*) FROM idem_attempt")).isZero();
                }
            }
        }
    }

    private static void loseConnection(Database database, Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    database == Database.POSTGRESQL
                            ? "SELECT pg_terminate_backend(pg_backend_pid())"
                            : "KILL CONNECTION_ID()");
        }
    }
}
