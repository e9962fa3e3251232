package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.StoreException;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

/** Sources whose connections may be in somebody else's transaction, and those that only look so. */
public class SpringSourceTest {
    private static final Consumer CONSUMER = Consumer.named("payments")
            .otherwise((message, tx) -> {
                Db.pay(tx.connection(), message.id().orElseThrow());
                return null;
            })
            .build();

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a store does not take a source that hands out the caller's own transaction, however wrapped")
    void aTransactionAwareSourceIsRefused(Database database) {
        try (Db db = Db.fresh(database)) {
            TransactionAwareDataSourceProxy aware = new TransactionAwareDataSourceProxy(db.pool(2));
            for (DataSource source : List.of(
                    aware,
                    new TransactionAwareDataSourceProxy(new LazyConnectionDataSourceProxy(db.pool(2))),
                    new DelegatingDataSource(aware),
                    db.store().dataSource())) {
                assertThatThrownBy(() -> db.store(source))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("pool itself")
                        .hasMessageContaining("inbox.within");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a source that binds connections to threads in its own way is refused when it does")
    void aConnectionOfAnotherTransactionIsRefused(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Bound bound = new Bound(db.pool(2));
                Inbox inbox = db.inbox(bound.dataSource())) {
            assertThat(inbox.accept(CONSUMER, Db.message("1"))).isInstanceOf(Outcome.Processed.class);
            try (Connection owner = bound.begin()) {
                Db.pay(owner, "owner");
                assertThat(inbox.accept(CONSUMER, Db.message("2")))
                        .isInstanceOfSatisfying(
                                Outcome.Failed.class,
                                failed -> assertThat(failed.cause())
                                        .isInstanceOf(StoreException.class)
                                        .hasMessageContaining("inbox.within"));
                assertThat(inbox.acceptAll(CONSUMER, List.of(Db.message("3"), Db.message("4"))))
                        .allMatch(Outcome.Failed.class::isInstance);
                owner.commit();
            } finally {
                bound.end();
            }
            assertThat(db.payments("owner")).isEqualTo(1);
            assertThat(db.payments()).isEqualTo(2);
            assertThat(inbox.accept(CONSUMER, Db.message("2"))).isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a pool without autocommit is a pool like any other, and what was left on a connection is undone")
    void aPoolWithoutAutocommitWorks(Database database) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setMaximumPoolSize(1);
        config.setAutoCommit(false);
        try (Db db = Db.fresh(database)) {
            config.setDataSource(db.plain());
            try (HikariDataSource pool = new HikariDataSource(config);
                    Inbox inbox = db.inbox(pool)) {
                assertThat(inbox.accept(CONSUMER, Db.message("1"))).isInstanceOf(Outcome.Processed.class);
                try (Connection other = pool.getConnection()) {
                    Db.pay(other, "left");
                }
                assertThat(inbox.acceptAll(CONSUMER, List.of(Db.message("2"), Db.message("3"))))
                        .allMatch(Outcome.Processed.class::isInstance);
                assertThat(db.payments()).isEqualTo(3);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("what somebody left on a connection of a careless pool is undone, and the connection is put right")
    void whatWasLeftOnAConnectionIsUndone(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Connection one = db.plain().getConnection();
                Connection two = db.plain().getConnection()) {
            Careless pool = new Careless(List.of(one, two));
            try (Inbox inbox = db.inbox(pool.dataSource())) {
                assertThat(inbox.accept(CONSUMER, Db.message("1"))).isInstanceOf(Outcome.Processed.class);
                one.setAutoCommit(false);
                Db.pay(one, "left");
                assertThat(inbox.accept(CONSUMER, Db.message("2"))).isInstanceOf(Outcome.Processed.class);
                assertThat(one.getAutoCommit()).isTrue();
                assertThat(db.payments("left")).isZero();
                assertThat(db.payments()).isEqualTo(2);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a source that connects late is a source like any other")
    void aLazySourceWorks(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(new LazyConnectionDataSourceProxy(db.pool(2)))) {
            for (int i = 0; i < 2; i++) {
                Class<?> expected = i == 0 ? Outcome.Processed.class : Outcome.Duplicate.class;
                assertThat(inbox.accept(CONSUMER, Db.message("1"))).isInstanceOf(expected);
                assertThat(inbox.acceptAll(CONSUMER, List.of(Db.message("2"), Db.message("3"))))
                        .allMatch(expected::isInstance);
            }
            assertThat(db.payments()).isEqualTo(3);
        }
    }

    @Test
    @DisplayName("the pool itself stays apart from the caller's transaction in Spring")
    void thePoolItselfStaysApart() {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            HikariDataSource pool = db.pool(3);
            try (Inbox inbox = db.inbox(pool)) {
                TransactionTemplate template = new TransactionTemplate(new DataSourceTransactionManager(pool));
                template.executeWithoutResult(status -> {
                    new JdbcTemplate(pool).update("INSERT INTO payment (order_id) VALUES ('owner')");
                    assertThat(inbox.accept(CONSUMER, Db.message("1"))).isInstanceOf(Outcome.Processed.class);
                });
                assertThat(db.payments()).isEqualTo(2);
            }
        }
    }

    /** As frameworks do: while a transaction is open on a thread, that thread gets its connection, which it cannot close. */
    private static final class Bound implements AutoCloseable {
        private final DataSource real;
        private Connection current;

        Bound(DataSource real) {
            this.real = real;
        }

        Connection begin() throws SQLException {
            current = real.getConnection();
            current.setAutoCommit(false);
            return current;
        }

        void end() {
            current = null;
        }

        DataSource dataSource() {
            return new UnitDataSource(() -> current == null ? real.getConnection() : unclosable(current));
        }

        @Override
        public void close() {
            end();
        }
    }

    /** A pool by hand that gives out what it has in turn, and resets nothing. */
    private record Careless(List<Connection> connections) {
        DataSource dataSource() {
            boolean[] taken = new boolean[connections.size()];
            return new UnitDataSource(() -> {
                for (int i = 0; i < taken.length; i++) {
                    if (!taken[i]) {
                        int mine = i;
                        taken[mine] = true;
                        return closing(connections.get(mine), () -> taken[mine] = false);
                    }
                }
                throw new SQLException("exhausted", "08001");
            });
        }
    }

    private static Connection unclosable(Connection connection) {
        return closing(connection, () -> {});
    }

    public static Connection closing(Connection connection, Runnable close) {
        return (Connection) Proxy.newProxyInstance(
                SpringSourceTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, args) -> {
                    if (method.getName().equals("close")) {
                        close.run();
                        return null;
                    }
                    try {
                        return method.invoke(connection, args);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }
}
