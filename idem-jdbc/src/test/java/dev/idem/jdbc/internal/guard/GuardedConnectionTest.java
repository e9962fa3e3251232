package dev.idem.jdbc.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What a handler may not do with its connection, one method at a time. */
@Tag("second-pass")
class GuardedConnectionTest {
    private static final Map<Database, Db> SHARED = new EnumMap<>(Database.class);

    @FunctionalInterface
    interface Call {
        void on(Connection connection) throws SQLException;
    }

    static Stream<Arguments> refused() {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("commit()", Connection::commit);
        calls.put("rollback()", Connection::rollback);
        calls.put("close()", Connection::close);
        calls.put("abort()", c -> c.abort(Runnable::run));
        calls.put("setAutoCommit()", c -> c.setAutoCommit(true));
        calls.put("setReadOnly()", c -> c.setReadOnly(true));
        calls.put("setSchema()", c -> c.setSchema("elsewhere"));
        calls.put("setCatalog()", c -> c.setCatalog("elsewhere"));
        calls.put("setTransactionIsolation()", c -> c.setTransactionIsolation(Connection.TRANSACTION_READ_UNCOMMITTED));
        calls.put(
                "setHoldability()",
                c -> c.setHoldability(
                        c.getHoldability() == ResultSet.HOLD_CURSORS_OVER_COMMIT
                                ? ResultSet.CLOSE_CURSORS_AT_COMMIT
                                : ResultSet.HOLD_CURSORS_OVER_COMMIT));
        calls.put("setNetworkTimeout()", c -> c.setNetworkTimeout(Runnable::run, 1));
        calls.put("setClientInfo()", c -> c.setClientInfo("ApplicationName", "x"));
        calls.put("setClientInfo(all)", c -> c.setClientInfo(new Properties()));
        calls.put("setTypeMap()", c -> c.setTypeMap(Map.of()));
        calls.put("unwrap()", c -> c.unwrap(org.postgresql.PGConnection.class));
        calls.put("statement.unwrap()", c -> c.createStatement().unwrap(Statement.class));
        calls.put("metaData.unwrap()", c -> c.getMetaData().unwrap(Object.class));
        calls.put(
                "commit() by the statement",
                c -> c.createStatement().getConnection().commit());
        calls.put(
                "commit() by a prepared statement",
                c -> c.prepareStatement("SELECT 1").getConnection().commit());
        calls.put(
                "commit() by a call",
                c -> c.prepareCall("{call abs(1)}").getConnection().commit());
        calls.put(
                "commit() by a result set",
                c -> c.createStatement()
                        .executeQuery("SELECT 1")
                        .getStatement()
                        .getConnection()
                        .commit());
        calls.put(
                "commit() by the metadata", c -> c.getMetaData().getConnection().commit());
        return Stream.of(Database.values())
                .flatMap(database ->
                        calls.entrySet().stream().map(call -> Arguments.of(database, call.getKey(), call.getValue())));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource
    @DisplayName("PC-09 what would end or outlive the transaction is refused, and the handler can go on")
    void refused(Database database, String name, Call call) throws Exception {
        Db db = SHARED.computeIfAbsent(database, Db::fresh);
        try (Inbox inbox = db.inbox()) {
            assertThat(inbox.run("payments", Db.message(name), tx -> {
                        Db.pay(tx.connection(), name);
                        assertThatThrownBy(() -> call.on(tx.connection()))
                                .isInstanceOf(SQLException.class)
                                .hasMessageStartingWith("Refused: ");
                    }))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments(name)).isEqualTo(1);
        }
    }

    @AfterAll
    static void close() {
        SHARED.values().forEach(Db::close);
        SHARED.clear();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-09 result sets of the metadata do not lead to the driver's connection")
    void metadataDoesNotLeadAroundTheGuard(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            inbox.run("payments", Db.message("1"), tx -> {
                Db.pay(tx.connection(), "1");
                try (ResultSet tables = tx.connection().getMetaData().getTables(null, null, "%", null)) {
                    assertThat(tables.next()).isTrue();
                    assertThatThrownBy(
                                    () -> tables.getStatement().getConnection().commit())
                            .isInstanceOfAny(SQLException.class, NullPointerException.class);
                    assertThatThrownBy(() -> tables.unwrap(ResultSet.class)).isInstanceOf(SQLException.class);
                }
            });
            assertThat(db.payments("1")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-09 a handler's own savepoints work, by method and as text")
    void savepointsAreTheHandlersOwn(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            inbox.run("payments", Db.message("1"), tx -> {
                Connection connection = tx.connection();
                Db.pay(connection, "kept");
                Savepoint savepoint = connection.setSavepoint("mine");
                Db.pay(connection, "undone");
                connection.rollback(savepoint);
                Savepoint unnamed = connection.setSavepoint();
                Db.pay(connection, "kept");
                connection.releaseSavepoint(unnamed);
                try (Statement statement = connection.createStatement()) {
                    statement.execute("SAVEPOINT text");
                    Db.pay(connection, "undone");
                    statement.execute("ROLLBACK TO SAVEPOINT text");
                }
            });
            assertThat(db.payments("kept")).isEqualTo(2);
            assertThat(db.payments("undone")).isZero();
            assertThat(db.markers()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-09 settings that are already so may be set, and the data source's connections may be closed")
    void whatLibrariesDoIsAllowed(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            inbox.run("payments", Db.message("1"), tx -> {
                Connection connection = tx.connection();
                connection.setAutoCommit(false);
                connection.setReadOnly(false);
                connection.setTransactionIsolation(connection.getTransactionIsolation());
                for (int i = 0; i < 2; i++) {
                    try (Connection closable = tx.dataSource().getConnection()) {
                        Db.pay(closable, "1");
                        closable.close();
                        assertThat(closable.isClosed()).isTrue();
                        assertThatThrownBy(closable::createStatement).isInstanceOf(SQLException.class);
                    }
                }
                try (PreparedStatement prepared =
                        connection.prepareStatement("INSERT INTO payment (order_id) VALUES (?)")) {
                    prepared.setString(1, "1");
                    prepared.addBatch();
                    assertThat(prepared.executeBatch()).hasSize(1);
                }
            });
            assertThat(db.payments("1")).isEqualTo(3);
        }
    }
}
