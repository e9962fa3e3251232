package dev.idem.test.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class PooledFaultsTest {
    private final TestDatabase database = new TestDatabase();

    PooledFaultsTest() throws SQLException {}

    @Test
    void aPoolOnTopReplacesALostConnection() throws Exception {
        var faulty = FaultyDataSource.around(database.dataSource());
        try (HikariDataSource pool = poolOver(faulty)) {
            insert(pool, "a");
            faulty.arm(1, Fault.CONNECTION_LOST_BEFORE);
            assertThatThrownBy(() -> insert(pool, "b")).hasMessageContaining("CONNECTION_LOST_BEFORE");
            insert(pool, "c");
        }
        assertThat(database.effects()).isEqualTo(2);
        Await.until("the pool closes its connections", () -> database.connections() == 0);
    }

    @Test
    void aPoolUnderneathGetsItsConnectionBack() throws Exception {
        try (HikariDataSource pool = poolOver(database.dataSource())) {
            var faulty = FaultyDataSource.around(pool);
            for (Fault fault : Fault.values()) {
                for (int n = 1; n <= 5; n++) {
                    faulty.arm(n, fault);
                    try {
                        insert(faulty, "a");
                    } catch (SQLException | InjectedError injected) {
                        assertThat(injected).hasMessageContaining("Injected " + fault);
                    }
                    assertThat(faulty.fired()).isTrue();
                    insert(faulty, "b"); // the pool has one connection, so a leak would make this fail
                    assertThat(pool.getHikariPoolMXBean().getActiveConnections())
                            .isZero();
                }
            }
        }
    }

    private static HikariDataSource poolOver(DataSource dataSource) {
        var config = new HikariConfig();
        config.setDataSource(dataSource);
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(5_000);
        return new HikariDataSource(config);
    }

    private static void insert(DataSource dataSource, String id) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.executeUpdate("INSERT INTO effect VALUES ('" + id + "')");
            }
            connection.commit();
        }
    }
}
