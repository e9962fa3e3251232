package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueStats;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A handler of a stored message commits, and its connection is gone: its marker was there before, so it tells nothing. */
class StoredHiddenCommitTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    static Stream<Arguments> waysOfWorkers() {
        return Stream.of(Database.values())
                .flatMap(database -> Stream.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofMinutes(2)))
                        .flatMap(policy -> Stream.of(1, 6).map(count -> Arguments.of(database, policy, count))));
    }

    static Stream<Arguments> waysOfServers() { // H2 cannot end a connection
        return waysOfWorkers().filter(way -> way.get()[0] != Database.H2);
    }

    @ParameterizedTest
    @MethodSource("waysOfServers")
    @DisplayName(
            "PC-09 PG-15 a stored message that commits and loses its connection is parked, and nothing is done twice")
    void losesItsConnection(Database database, QueuePolicy policy, int count) {
        isParked(database, policy, count, connection -> send(connection, ends(database)));
    }

    @ParameterizedTest
    @MethodSource("waysOfWorkers")
    @DisplayName("PC-09 PC-24 a stored message that commits and is then too late is parked, and nothing is done twice")
    void isTooLate(Database database, QueuePolicy policy, int count) {
        isParked(database, policy, count, connection -> new CountDownLatch(1).await()); // until it is interrupted
    }

    private static void isParked(Database database, QueuePolicy policy, int count, Ending ending) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            if (database == Database.MARIADB) {
                db.execute("CREATE PROCEDURE commits() COMMIT");
            }
            String culprit = "m" + count / 2;
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withHandlerTimeout(Duration.ofSeconds(2)))
                    .queued(policy.withWorkers(1)
                            .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(5)))
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        if (message.id().orElseThrow().equals(culprit)) {
                            send(tx.connection(), database == Database.MARIADB ? "CALL commits()" : "SELECT 1; COMMIT");
                            ending.of(tx.connection());
                        }
                        return null;
                    })
                    .build();
            List<Message> messages =
                    IntStream.range(0, count).mapToObj(i -> Db.message("m" + i)).toList();
            inbox.acceptAll(consumer, messages);
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> isOver(inbox.queueStats("payments")));
            for (int i = 0; i < count; i++) {
                assertThat(db.payments("m" + i)).as("m%s", i).isEqualTo(1);
            }
            JdbcInbox operator = JdbcInbox.of(JdbcSchema.of(db.plain()));
            assertThat(operator.find("payments", culprit))
                    .as("a person is told of it")
                    .isPresent();
            assertThat(inbox.queueStats("payments").parked())
                    .as("it, and those at most that ran before it in the same transaction")
                    .isBetween(1L, count / 2 + 1L);
        }
    }

    private static boolean isOver(QueueStats stats) {
        return stats.pending() == 0 && stats.inProgress() == 0;
    }

    private static String ends(Database database) {
        return database == Database.POSTGRESQL
                ? "SELECT pg_terminate_backend(pg_backend_pid())"
                : "KILL CONNECTION_ID()";
    }

    private static void send(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** What the handler does when it has committed. */
    @FunctionalInterface
    private interface Ending {
        void of(Connection connection) throws SQLException, InterruptedException;
    }
}
