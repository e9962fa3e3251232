package dev.idem.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtendWith;

/** What every database server does; one subclass per server. */
@ExtendWith(SkipWithoutServer.class)
@TestInstance(Lifecycle.PER_CLASS)
abstract class DatabaseServerContract {
    private DatabaseServer server;

    abstract DatabaseServer start();

    /** What the build has asked for. */
    abstract String version();

    @BeforeAll
    void startServer() {
        server = start();
    }

    @AfterAll
    void closeServer() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    @Tag("second-pass")
    void isOfTheVersionThatTheBuildAsksFor() throws SQLException {
        String release = version().replaceFirst("(\\d+\\.\\d+).*", "$1");
        try (Connection connection = connect(server.maintenanceDatabase())) {
            assertThat(connection.getMetaData().getDatabaseProductVersion()).startsWith(release);
        }
    }

    @Test
    void databasesAreApartAndCanBeDropped() throws SQLException {
        String first = server.createDatabase();
        String second = server.createDatabase();
        execute(first, "CREATE TABLE t (id INT PRIMARY KEY)");
        execute(second, "CREATE TABLE t (id INT PRIMARY KEY)");
        execute(first, "INSERT INTO t VALUES (1)");
        assertThat(rows(first)).isEqualTo(1);
        assertThat(rows(second)).isZero();
        server.dropDatabase(first);
        assertThatThrownBy(() -> rows(first)).isInstanceOf(SQLException.class);
        assertThat(rows(second)).isZero();
    }

    @Test
    void committedRowsSurviveAKill() throws SQLException {
        String database = server.createDatabase();
        int port = server.port();
        execute(database, "CREATE TABLE t (id INT PRIMARY KEY)");
        Connection connection = connect(database);
        for (int i = 0; i < 100; i++) {
            insert(connection, i);
        }
        connection.setAutoCommit(false);
        insert(connection, 100);
        server.killHard();
        assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        assertThatThrownBy(() -> connect(database)).isInstanceOf(SQLException.class);
        server.restart();
        assertThat(rows(database)).isEqualTo(100);
        assertThat(server.port()).isEqualTo(port);
    }

    @Test
    void restartsARunningServer() throws SQLException {
        String database = server.createDatabase();
        execute(database, "CREATE TABLE t (id INT PRIMARY KEY)");
        long before = server.pid();
        server.restart();
        assertThat(server.pid()).isNotEqualTo(before);
        assertThat(rows(database)).isZero();
    }

    @Test
    void answersNothingWhilePausedAndEverythingAfter() throws Exception {
        String database = server.createDatabase();
        execute(database, "CREATE TABLE t (id INT PRIMARY KEY)");
        try (Connection connection = connect(database)) {
            server.pause();
            var answer = CompletableFuture.runAsync(() -> insert(connection, 1));
            assertThatThrownBy(() -> answer.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            server.resume();
            assertThatCode(() -> answer.get(30, TimeUnit.SECONDS)).doesNotThrowAnyException();
        }
        assertThat(rows(database)).isEqualTo(1);
    }

    @Test
    void aClosedServerLeavesNothing() {
        DatabaseServer closed = start();
        List<ProcessHandle> processes = ProcessHandle.of(closed.pid()).stream()
                .flatMap(handle -> Stream.concat(Stream.of(handle), handle.descendants()))
                .toList();
        assertThat(closed.log()).exists();
        closed.pause();
        closed.close();
        assertThat(processes).isNotEmpty().noneMatch(ProcessHandle::isAlive);
        assertThat(Files.exists(closed.log().getParent())).isFalse();
        closed.close();
    }

    private static void insert(Connection connection, int id) {
        try (var statement = connection.createStatement()) {
            statement.execute("INSERT INTO t VALUES (" + id + ")");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private Connection connect(String database) throws SQLException {
        return DriverManager.getConnection(server.jdbcUrl(database));
    }

    private void execute(String database, String sql) throws SQLException {
        try (Connection connection = connect(database);
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private int rows(String database) throws SQLException {
        try (Connection connection = connect(database);
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT count(*) FROM t")) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
