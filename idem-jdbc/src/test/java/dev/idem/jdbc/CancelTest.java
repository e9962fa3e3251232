package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Statements that nobody waits for any more must not go on in the server. */
class CancelTest {
    private static final Duration LIMIT = Duration.ofMillis(300);
    private static final int POOL = 3;
    private static final int LATE = 20;

    private static String sleep(Database database) {
        return database == Database.POSTGRESQL ? "SELECT pg_sleep(60)" : "SELECT SLEEP(60)";
    }

    /** Statements of this database that sleep at this moment. */
    private static long sleeping(Db db) {
        return db.number(
                db.kind() == Database.POSTGRESQL
                        ? "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'"
                                + " AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()"
                        : "SELECT count(*) FROM information_schema.processlist WHERE db = DATABASE()"
                                + " AND info LIKE '%SLEEP%' AND id <> CONNECTION_ID()");
    }

    @ParameterizedTest
    @CsvSource({
        "POSTGRESQL, ALONE",
        "POSTGRESQL, BATCH",
        "POSTGRESQL, DEFERRED",
        "MARIADB, ALONE",
        "MARIADB, BATCH",
        "MARIADB, DEFERRED"
    })
    @DisplayName(
            "PC-24 statements of late handlers end in the server: never more of them than the pool has connections")
    void lateStatementsDoNotPileUp(Database database, String how) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(POOL))) {
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withHandlerTimeout(LIMIT))
                    .otherwise((Message message, dev.idem.Transaction tx) -> {
                        if (how.equals("DEFERRED")) {
                            tx.defer(sleep(database));
                            return null;
                        }
                        try (Statement statement = tx.connection().createStatement()) {
                            return statement.execute(sleep(database));
                        }
                    })
                    .build();
            long most = 0;
            for (int i = 0; i < LATE; i++) {
                Message message = Db.message("late-" + i);
                List<Outcome<?>> outcomes = how.equals("BATCH")
                        ? inbox.acceptAll(consumer, List.of(message))
                        : List.of(inbox.accept(consumer, message));
                assertThat(outcomes.get(0))
                        .isInstanceOfSatisfying(
                                Outcome.Failed.class,
                                failed -> assertThat(failed.cause()).isInstanceOf(HandlerTimeoutException.class));
                most = Math.max(most, sleeping(db));
            }
            assertThat(most).isLessThanOrEqualTo(POOL);
            await().atMost(Duration.ofSeconds(5)).until(() -> sleeping(db) == 0);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-24 a deferred statement of a batch that waits too long fails its own message only")
    void aDeferredStatementOfABatchWaits(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(POOL));
                Connection other = db.plain().getConnection()) {
            db.execute("INSERT INTO payment (order_id) VALUES ('locked')");
            other.setTransactionIsolation(
                    Connection.TRANSACTION_READ_COMMITTED); // else MariaDB locks what is inserted too
            other.setAutoCommit(false);
            try (Statement statement = other.createStatement()) {
                statement.executeUpdate("UPDATE payment SET order_id = 'held' WHERE order_id = 'locked'");
            }
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withHandlerTimeout(LIMIT))
                    .otherwise((Message message, dev.idem.Transaction tx) -> {
                        String id = message.id().orElseThrow();
                        tx.defer(
                                id.equals("m1")
                                        ? "UPDATE payment SET order_id = 'mine' WHERE order_id = 'locked'"
                                        : "INSERT INTO payment (order_id) VALUES ('" + id + "')");
                        return null;
                    })
                    .build();
            List<Outcome<?>> outcomes = inbox.acceptAll(
                    consumer,
                    IntStream.range(0, 4).mapToObj(i -> Db.message("m" + i)).toList());
            for (int i = 0; i < 4; i++) {
                Class<?> expected = i == 1 ? Outcome.Failed.class : Outcome.Processed.class;
                assertThat(outcomes.get(i)).as("m%s", i).isInstanceOf(expected);
                assertThat(db.payments("m" + i)).isEqualTo(i == 1 ? 0 : 1);
            }
            assertThat(((Outcome.Failed<?>) outcomes.get(1)).cause()).isInstanceOf(HandlerTimeoutException.class);
            other.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("HX-01 a handler can cancel its own statement from another thread, alone and in a batch")
    void aHandlerCancelsItsStatement(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(POOL))) {
            Consumer consumer = Consumer.named("payments")
                    .otherwise((Message message, dev.idem.Transaction tx) -> {
                        try (PreparedStatement statement = tx.connection().prepareStatement(sleep(database))) {
                            Future<Boolean> canceller = Together.start(() -> {
                                await().atMost(Duration.ofSeconds(20)).until(() -> sleeping(db) == 1);
                                statement.cancel();
                                return true;
                            });
                            try {
                                statement.execute();
                            } catch (SQLException cancelled) {
                                assertThat(Together.get(canceller)).isTrue();
                                throw cancelled;
                            }
                            throw new AssertionError("slept to the end");
                        }
                    })
                    .build();
            List<Message> two =
                    IntStream.range(0, 2).mapToObj(i -> Db.message("m" + i)).toList();
            long start = System.nanoTime();
            assertThat(inbox.accept(consumer, Db.message("alone"))).isInstanceOf(Outcome.Failed.class);
            inbox.acceptAll(consumer, two)
                    .forEach(outcome -> assertThat(outcome)
                            .isInstanceOfSatisfying(
                                    Outcome.Failed.class,
                                    failed -> assertThat(failed.cause()).isInstanceOf(SQLException.class)));
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
        }
    }
}
