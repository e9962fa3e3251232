package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
