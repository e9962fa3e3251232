package dev.idem.jdbc.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.InboxBench;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.SpringSourceTest;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OwnConnectionsTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("two who compare connections that were left without autocommit do not wait for each other's")
    void comparedInTurn(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Connection one = db.plain().getConnection();
                Connection two = db.plain().getConnection()) {
            Pool pool = new Pool(List.of(one, two));
            OwnConnections own = new OwnConnections(new UnitDataSource(pool::take), database);
            own.dataSource().getConnection().close(); // autocommit is on, as a rule
            one.setAutoCommit(false);
            two.setAutoCommit(false);
            pool.together = 2; // each of them has one before anybody asks for another
            List<CompletableFuture<Boolean>> users = List.of(used(own), used(own));
            for (CompletableFuture<Boolean> user : users) {
                assertThat(user.get(60, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(pool.inVain).hasValue(0);
            assertThat(pool.idle).hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a pool without autocommit whose test query begins a transaction serves workers and operators")
    void testQueriesThatBegin(Database database) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setAutoCommit(false);
        config.setMaximumPoolSize(6);
        try (Db db = Db.fresh(database)) {
            config.setDataSource(db.plain());
            try (HikariDataSource pool = new HikariDataSource(config);
                    Inbox inbox = db.inbox(tested(pool))) {
                Consumer consumer = InboxBench.consumer(
                        QueuePolicy.leased(Duration.ofSeconds(30)).withWorkers(2));
                inbox.acceptAll(consumer, List.of(Db.message("m1"), Db.message("m2"), Db.message("m3")));
                InboxOperator anna = JdbcInbox.of(JdbcSchema.of(tested(pool))).as("anna", "looks");
                long id = db.number("SELECT max(id) FROM idem_queue");
                assertThat(anna.park(id).result()).isEqualTo(InboxAnswer.Result.CHANGED);
                inbox.start(consumer);
                await().atMost(Duration.ofSeconds(30)).until(() -> db.payments() == 2);
                assertThat(anna.erase(id).result()).isEqualTo(InboxAnswer.Result.CHANGED);
            }
        }
    }

    /** As pools with a query for the test of their connections do it. */
    private static DataSource tested(DataSource pool) {
        return new UnitDataSource(() -> {
            Connection connection = pool.getConnection();
            try (Statement statement = connection.createStatement()) {
                statement.execute("SELECT count(*) FROM payment");
            }
            return connection;
        });
    }

    private static CompletableFuture<Boolean> used(OwnConnections own) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try (Connection connection = own.dataSource().getConnection()) {
                        return connection.getAutoCommit();
                    } catch (SQLException failure) {
                        throw new IllegalStateException(failure);
                    }
                },
                task -> new Thread(task).start());
    }

    /** A pool by hand that resets nothing, and whose users wait for a while. */
    private static final class Pool {
        private final BlockingQueue<Connection> idle;
        private final CyclicBarrier both = new CyclicBarrier(2);
        private final AtomicInteger inVain = new AtomicInteger();
        private int together;

        private Pool(List<Connection> connections) {
            idle = new LinkedBlockingQueue<>(connections);
        }

        private Connection take() throws SQLException {
            try {
                Connection taken = idle.poll(3, TimeUnit.SECONDS);
                if (taken == null) {
                    inVain.incrementAndGet();
                    throw new SQLException("exhausted", "08001");
                }
                if (isOneOfThem()) {
                    both.await(30, TimeUnit.SECONDS);
                }
                return SpringSourceTest.closing(taken, () -> idle.add(taken));
            } catch (SQLException exhausted) {
                throw exhausted;
            } catch (Exception broken) {
                throw new IllegalStateException(broken);
            }
        }

        private synchronized boolean isOneOfThem() {
            return together-- > 0;
        }
    }
}
