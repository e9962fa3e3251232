package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What was given back to the pool is somebody else's: nothing touches it any more, whatever became of the message. */
class GivenBackTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Consumer consumer = Consumer.named("payments")
            .policy(Policy.defaults().withHandlerTimeout(Duration.ofMillis(300)))
            .otherwise((message, tx) -> {
                String id = message.id().orElseThrow();
                Db.pay(tx.connection(), id);
                switch (id.replaceAll("\\d", "")) {
                    case "failing" -> throw new IllegalStateException("not today");
                    case "deferring" -> tx.defer("INSERT INTO payment (order_id) VALUES (?)", "d");
                    case "misdeferring" -> tx.defer("INSERT INTO payment (order_id) VALUES (?)", "x".repeat(200));
                    case "swallowing" -> swallow(() -> Db.pay(tx.connection(), "x".repeat(200)));
                    case "late" -> swallow(() -> Thread.sleep(1_000));
                    default -> {
                        // just paid
                    }
                }
                return null;
            })
            .build();

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LV-15 a connection of the store's data source that was closed touches nothing any more")
    void aClosedConnectionOfTheStore(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                ReusingPool pool = new ReusingPool(2, db.plain());
                JdbcStore store = db.store(pool.dataSource())) {
            Connection connection = store.dataSource().getConnection();
            try (Statement statement = connection.createStatement()) {
                connection.close();
                connection.close();
                connection.abort(Runnable::run);
                assertThat(connection.isClosed()).isTrue();
                assertThat(connection.isValid(1)).isFalse();
                assertThatThrownBy(connection::commit).hasMessageContaining("closed");
                assertThatThrownBy(() -> statement.execute("SELECT 1")).hasMessageContaining("closed");
            }
            assertThat(pool.trespasses()).isEmpty();
            assertThat(pool.inUse()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LV-15 a connection that was given back is not touched again, alone or in a batch")
    void aConnectionIsGivenBackOnce(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                ReusingPool pool = new ReusingPool(2, db.plain());
                Inbox inbox = db.inbox(pool.dataSource())) {
            for (String ids : List.of(
                    "fine1",
                    "fine2 fine3",
                    "fine2 fine4",
                    "failing1",
                    "failing2 failing3",
                    "fine5 failing4 fine6",
                    "deferring1 deferring2",
                    "fine7 misdeferring1",
                    "swallowing1",
                    "fine8 swallowing2 fine9",
                    "late1",
                    "fine10 late2 fine11")) {
                List<Message> batch = messages(ids.split(" "));
                inbox.acceptAll(consumer, batch);
                assertThat(pool.trespasses()).as("after the batch of %s", ids).isEmpty();
                assertThat(pool.inUse()).as("after the batch of %s", ids).isZero();
                batch.forEach(message -> inbox.accept(
                        consumer, Db.message(message.id().orElseThrow().replaceAll("(\\d)", "0$1"))));
                assertThat(pool.trespasses()).as("after each of %s", ids).isEmpty();
                assertThat(pool.inUse()).as("after each of %s", ids).isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LV-15 a worker gives its connection back once, whether it leases or not")
    void aWorkerGivesItsConnectionBackOnce(Database database) throws Exception {
        for (QueuePolicy policy : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)))) {
            try (Db db = Db.fresh(database);
                    ReusingPool pool = new ReusingPool(6, db.plain());
                    Inbox inbox = db.inbox(pool.dataSource())) {
                Consumer stored = Consumer.named("payments")
                        .queued(policy.withWorkers(1)
                                .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2)))
                        .otherwise((message, tx) -> {
                            Db.pay(tx.connection(), message.id().orElseThrow());
                            if (message.id().orElseThrow().startsWith("failing")) {
                                throw new IllegalStateException("not today");
                            }
                            return null;
                        })
                        .build();
                inbox.acceptAll(stored, messages("fine1", "failing1", "fine2", "failing2"));
                inbox.start(stored);
                await().atMost(LIMIT)
                        .until(() -> inbox.queueStats("payments").parked() == 2
                                && inbox.queueStats("payments").pending() == 0);
                inbox.close();
                assertThat(pool.trespasses()).isEmpty();
                assertThat(pool.inUse()).isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LV-15 a batch in which every message failed gives its connection back sound, and says nothing")
    void aBatchThatFailedAsAWholeIsSilent(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                HikariDataSource pool = db.pool(1);
                Inbox inbox = db.inbox(pool)) {
            inbox.register(consumer);
            long session = session(db, pool);
            try (CapturedLog log = CapturedLog.of(JdbcStore.class)) {
                for (String ids : List.of("failing1", "failing2 failing3", "misdeferring1 misdeferring2")) {
                    assertThat(inbox.acceptAll(consumer, messages(ids.split(" "))))
                            .allMatch(Outcome.Failed.class::isInstance);
                }
                assertThat(log.everything()).isEmpty();
            }
            assertThat(session(db, pool)).as("the connection's session").isEqualTo(session);
        }
    }

    private static long session(Db db, HikariDataSource pool) throws SQLException {
        String sql = switch (db.kind()) {
            case POSTGRESQL -> "SELECT pg_backend_pid()";
            case MARIADB -> "SELECT CONNECTION_ID()";
            case H2 -> "SELECT SESSION_ID()";
        };
        try (var connection = pool.getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private static List<Message> messages(String... ids) {
        List<Message> messages = new ArrayList<>();
        for (String id : ids) {
            messages.add(Db.message(id));
        }
        return messages;
    }

    private static void swallow(Attempt attempt) {
        try {
            attempt.run();
        } catch (SQLException swallowed) {
            return;
        } catch (InterruptedException late) {
            Thread.currentThread().interrupt();
        }
    }

    @FunctionalInterface
    private interface Attempt {
        void run() throws SQLException, InterruptedException;
    }
}
