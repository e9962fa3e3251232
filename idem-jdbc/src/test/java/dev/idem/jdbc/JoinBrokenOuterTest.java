package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.StoreException;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.Provisional;
import dev.idem.spi.TransientStoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What goes wrong around a joined message, and how its owner learns of it. */
class JoinBrokenOuterTest {
    @Test
    @DisplayName("PC-07 an owner that swallowed an error learns it from the confirm, not from a commit that looks fine")
    void confirmFindsAnAbortedTransaction() throws Exception {
        try (JoinFixture fixture = new JoinFixture(Database.POSTGRESQL)) {
            Provisional<?> answer = fixture.pay("1");
            swallowing(fixture.outer, "SELECT 1 / 0");
            assertThatThrownBy(answer::confirm).isInstanceOf(BrokenTransactionException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Database.class, names = "POSTGRESQL", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("PC-10 an owner whose DDL committed implicitly learns it from the confirm")
    void confirmFindsAnImplicitCommit(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            Provisional<?> answer = fixture.pay("1");
            execute(fixture.outer, "CREATE TABLE surprise (id INT)");
            assertThatThrownBy(answer::confirm).isInstanceOf(BrokenTransactionException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void confirmFindsThatTheOwnerHasRolledBack(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            Provisional<?> answer = fixture.pay("1");
            fixture.outer.rollback();
            Db.pay(fixture.outer, "2");
            assertThatThrownBy(answer::confirm).isInstanceOf(BrokenTransactionException.class);
        }
    }

    @Test
    @DisplayName(
            "PC-07 a joined handler that swallows an error is refused at once, and the owner can go on if it said so")
    void aSwallowedErrorInTheHandlerIsHealed() throws Exception {
        try (JoinFixture fixture = new JoinFixture(Database.POSTGRESQL)) {
            Db.pay(fixture.outer, "before");
            assertThatThrownBy(() -> fixture.undoing.process("payments", JoinFixture.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        swallowing(tx.connection(), "SELECT 1 / 0");
                        return true;
                    }))
                    .isInstanceOf(BrokenTransactionException.class);
            fixture.outer.commit();
            assertThat(fixture.db.payments()).isEqualTo(1);
            assertThat(fixture.db.markers()).isZero();
        }
    }

    @Test
    @DisplayName("PC-10 a procedure that commits inside a joined handler which then fails is told as left behind")
    void aCommitInsideAFailingHandlerIsTold() throws Exception {
        try (JoinFixture fixture = new JoinFixture(Database.MARIADB)) {
            fixture.db.execute("CREATE PROCEDURE treacherous() COMMIT");
            assertThatThrownBy(() -> fixture.joined.process("payments", JoinFixture.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        execute(tx.connection(), "CALL treacherous()");
                        throw new IllegalStateException("no");
                    }))
                    .isInstanceOfSatisfying(
                            BrokenTransactionException.class,
                            broken -> assertThat(broken.leftBehind()).isTrue());
        }
    }

    @Test
    @DisplayName("PG-40 a serialization failure is not retried inside a transaction of somebody else")
    void nothingIsRetriedInside() throws Exception {
        try (JoinFixture fixture = new JoinFixture(Database.POSTGRESQL)) {
            fixture.inbox.register(Consumer.of("payments"));
            fixture.outer.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            execute(fixture.outer, "SELECT count(*) FROM payment"); // takes the snapshot
            fixture.inbox.process("payments", JoinFixture.message("1"), JoinFixture.paying("1"));
            assertThatThrownBy(() -> fixture.pay("1"))
                    .isInstanceOf(TransientStoreException.class)
                    .hasMessageContaining("inside an outer transaction")
                    .hasMessageContaining("40001");
            execute(fixture.outer, "SELECT 1"); // still usable, though only for the owner's rollback

            int[] runs = {0};
            assertThatThrownBy(() -> fixture.joined.process("payments", JoinFixture.message("2"), tx -> {
                        runs[0]++;
                        throw new SQLException("serialization", "40001");
                    }))
                    .isInstanceOf(SQLException.class);
            assertThat(runs[0]).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aConnectionWithAutocommitIsRefused(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            fixture.outer.setAutoCommit(true);
            assertThatThrownBy(() -> fixture.pay("1"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("autocommit");
            assertThat(fixture.db.payments()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aPoolOfOneConnectionIsEnoughForAConsumerThatIsRegistered(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                HikariDataSource one = poolOfOne(db)) {
            try (Inbox inbox = Inbox.create(db.store(one))) {
                try (Connection outer = one.getConnection()) {
                    outer.setAutoCommit(false);
                    assertThatThrownBy(() -> JoinFixture.pay(inbox.within(outer), "1", "pay"))
                            .isInstanceOf(StoreException.class)
                            .hasMessageContaining("inbox.register(consumer)");
                    Db.pay(outer, "the outer transaction is still usable");
                    outer.commit();
                }
                inbox.register(Consumer.of("payments"));
                try (Connection outer = one.getConnection()) {
                    outer.setAutoCommit(false);
                    Provisional<?> answer = JoinFixture.pay(inbox.within(outer), "1", "pay");
                    assertThat(answer.outcome()).isInstanceOf(Outcome.Processed.class);
                    answer.confirm();
                    outer.commit();
                }
            }
            assertThat(db.payments()).isEqualTo(2);
        }
    }

    private static HikariDataSource poolOfOne(Db db) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(db.plain());
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(500);
        return new HikariDataSource(config);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static void swallowing(Connection connection, String sql) {
        assertThatThrownBy(() -> execute(connection, sql)).isInstanceOf(SQLException.class);
    }
}
