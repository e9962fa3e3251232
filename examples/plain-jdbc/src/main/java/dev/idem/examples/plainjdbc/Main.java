package dev.idem.examples.plainjdbc;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.jdbc.JdbcStore;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** A message that arrives three times, with a crash in between, and is paid once. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws SQLException {
        JdbcDataSource database = new JdbcDataSource();
        database.setURL("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1");
        tell(database, System.out);
    }

    static void tell(DataSource database, PrintStream out) throws SQLException {
        execute(database, "CREATE TABLE payment (order_id VARCHAR(20), cents INT)");
        Message message = Message.of("event-1", "order-42".getBytes(StandardCharsets.UTF_8));

        try (Inbox inbox = Inbox.create(JdbcStore.create(database))) {
            try {
                inbox.run("payments", message, tx -> {
                    pay(tx.connection(), "order-42", 1999);
                    throw new IllegalStateException("the power fails");
                });
            } catch (IllegalStateException crash) {
                out.println("Delivery 1: paid, then " + crash.getMessage() + ". Payments: " + payments(database));
            }
            for (int delivery = 2; delivery <= 3; delivery++) {
                Outcome<?> outcome = inbox.run("payments", message, tx -> pay(tx.connection(), "order-42", 1999));
                out.println("Delivery " + delivery + ": " + outcome.getClass().getSimpleName() + ", the broker is told "
                        + outcome.settlement() + ". Payments: " + payments(database));
            }
        }
    }

    /** The business: it uses the connection it is given, and neither commits nor closes it. */
    private static void pay(Connection connection, String order, int cents) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO payment VALUES (?, ?)")) {
            insert.setString(1, order);
            insert.setInt(2, cents);
            insert.executeUpdate();
        }
    }

    private static int payments(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement select = connection.createStatement();
                ResultSet rows = select.executeQuery("SELECT count(*) FROM payment")) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private static void execute(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
