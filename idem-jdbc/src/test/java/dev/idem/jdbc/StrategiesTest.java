package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The other strategies: the newest version wins, and steps of a state machine. */
class StrategiesTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-09 versions in any order, side by side, leave the newest in the projection")
    void newestWins(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            db.execute("CREATE TABLE stock (sku VARCHAR(20) NOT NULL PRIMARY KEY, version BIGINT NOT NULL, amount INT,"
                    + " note VARCHAR(20) UNIQUE)");
            VersionedUpsert upsert =
                    VersionedUpsert.of(database, "stock", List.of("sku"), "version", List.of("amount"));
            List<Integer> versions = new ArrayList<>();
            for (int i = 1; i <= 20; i++) {
                versions.add(i);
                versions.add(i);
            }
            Collections.shuffle(versions, new Random(3));
            ExecutorService threads = Executors.newFixedThreadPool(4);
            List<Future<VersionedUpsert.Result>> results = new ArrayList<>();
            for (int version : versions) {
                results.add(threads.submit(() -> write(db, upsert, version)));
            }
            int applied = 0;
            for (Future<VersionedUpsert.Result> result : results) {
                applied += result.get() == VersionedUpsert.Result.APPLIED ? 1 : 0;
            }
            threads.shutdown();
            assertThat(applied).isBetween(1, 20);
            assertThat(db.number("SELECT amount FROM stock WHERE version = 20")).isEqualTo(200);
            assertThat(write(db, upsert, 20)).isEqualTo(VersionedUpsert.Result.STALE);
            assertThat(write(db, upsert, 21)).isEqualTo(VersionedUpsert.Result.APPLIED);
            VersionedUpsert noted = VersionedUpsert.of(database, "stock", List.of("sku"), "version", List.of("note"));
            try (Connection connection = db.plain().getConnection()) {
                noted.apply(connection, List.of("x"), 1, List.of("same"));
                assertThatThrownBy(() -> noted.apply(connection, List.of("y"), 1, List.of("same")))
                        .as("another constraint is not taken for an old version")
                        .isInstanceOf(SQLException.class);
            }
        }
    }

    private static VersionedUpsert.Result write(Db db, VersionedUpsert upsert, int version) throws SQLException {
        SqlFaults faults = new SqlFaults(Dialect.of(db.kind()).faults());
        while (true) {
            try (Connection connection = db.plain().getConnection()) {
                return Transactions.alone(
                        connection, () -> upsert.apply(connection, List.of("a"), version, List.of(version * 10)));
            } catch (SQLException failure) {
                if (!faults.isTransient(failure)) { // a deadlock of the first two, as a handler's unit would run again
                    throw failure;
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a transition is applied once, known when repeated, and refused from any other state")
    void transitions(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Connection connection = db.plain().getConnection()) {
            db.execute(
                    "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, state VARCHAR(20) NOT NULL)",
                    "INSERT INTO orders (id, state) VALUES (1, 'PAID')");
            StateTransition order = StateTransition.of("orders", "id", "state");
            assertThat(order.apply(connection, 1, "SHIPPED", "DONE")).isEqualTo(StateTransition.Result.REFUSED);
            assertThat(order.apply(connection, 1, "PAID", "SHIPPED")).isEqualTo(StateTransition.Result.APPLIED);
            assertThat(order.apply(connection, 1, "PAID", "SHIPPED")).isEqualTo(StateTransition.Result.ALREADY);
            assertThat(order.apply(connection, 2, "PAID", "SHIPPED")).isEqualTo(StateTransition.Result.REFUSED);
            assertThat(db.text("SELECT state FROM orders")).isEqualTo("SHIPPED");
        }
    }

    @Test
    @DisplayName("names that could carry SQL are refused")
    void names() {
        for (String bad : List.of("", "a b", "a;--", "1a", "a.b.c", "a\"")) {
            assertThatThrownBy(() -> StateTransition.of(bad, "id", "state"))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> VersionedUpsert.of(Database.H2, "t", List.of("k"), "v", List.of(bad)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(StateTransition.of("shop.Orders", "id", "state")).isNotNull();
    }
}
