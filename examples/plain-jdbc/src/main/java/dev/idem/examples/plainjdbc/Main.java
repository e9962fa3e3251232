package dev.idem.examples.plainjdbc;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.examples.support.Shop;
import dev.idem.jdbc.JdbcStore;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** A message that arrives three times, with a crash in between, and is paid once. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws SQLException {
        tell(Shop.database(), System.out);
    }

    static void tell(DataSource database, PrintStream out) throws SQLException {
        Shop.execute(database, "CREATE TABLE payment (order_id VARCHAR(20), cents INT)");
        Message message = Message.of("event-1", "order-42".getBytes(StandardCharsets.UTF_8));

        try (Inbox inbox = Inbox.create(JdbcStore.create(database))) {
            try {
                Outcome<?> never = inbox.run("payments", message, tx -> {
                    pay(tx.connection(), "order-42", 1999);
                    throw new IllegalStateException("the power fails");
                });
                out.println("Delivery 1: " + never);
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
        return Shop.select(database, "SELECT order_id FROM payment").size();
    }
}
