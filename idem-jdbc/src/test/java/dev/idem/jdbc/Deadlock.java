package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;

/** A real deadlock of two transactions. */
final class Deadlock {
    private Deadlock() {}

    /** Creates the rows that the two quarrel over. */
    static void prepare(Db db) {
        db.execute(
                "CREATE TABLE account (id INT PRIMARY KEY, amount INT)", "INSERT INTO account VALUES (1, 0), (2, 0)");
    }

    /** Makes the transaction of this connection the victim: it has changed less than the other one, or waits less. */
    static void lose(Db db, Connection connection) throws Exception {
        CountDownLatch otherHasTwo = new CountDownLatch(1);
        CountDownLatch weHaveOne = new CountDownLatch(1);
        Future<Boolean> other = Together.start(() -> otherLoses(db, otherHasTwo, weHaveOne));
        Together.await(otherHasTwo);
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("UPDATE account SET amount = 1 WHERE id = 1");
            weHaveOne.countDown();
            db.awaitBlocked(1);
            statement.executeUpdate("UPDATE account SET amount = 1 WHERE id = 2");
        } finally {
            if (db.kind() == Database.MARIADB) {
                assertThat(Together.get(other)).as("the other side lost").isFalse();
            }
        }
    }

    private static boolean otherLoses(Db db, CountDownLatch hasTwo, CountDownLatch goOn) throws Exception {
        try (Connection second = DriverManager.getConnection(db.url());
                Statement statement = second.createStatement()) {
            second.setAutoCommit(false);
            if (db.kind() == Database.POSTGRESQL) {
                statement.execute("SET LOCAL deadlock_timeout = '60s'"); // who looks first is the victim
            }
            for (int i = 0; i < 50; i++) {
                statement.executeUpdate("INSERT INTO payment (order_id) VALUES ('ballast')");
            }
            statement.executeUpdate("UPDATE account SET amount = 2 WHERE id = 2");
            hasTwo.countDown();
            Together.await(goOn);
            try {
                statement.executeUpdate("UPDATE account SET amount = 2 WHERE id = 1");
            } finally {
                second.rollback();
            }
        } catch (SQLException lost) {
            return true;
        }
        return false;
    }
}
