package dev.idem.cli.demo;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** The business effect, the same for every seat: a row in {@code payment}, and some time for the rest of the work. */
final class Charges {
    private final Answers answers;

    Charges(Answers answers) {
        this.answers = answers;
    }

    /** Charges in the caller's transaction, and returns the order that was charged. */
    String charge(Connection connection, Delivery delivery) throws SQLException {
        Payment payment = delivery.payment();
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO payment (order_id, amount_cents) VALUES (?, ?)")) {
            insert.setString(1, payment.order());
            insert.setLong(2, payment.cents());
            insert.executeUpdate();
        }
        work(delivery.workMillis());
        answers.pass(CrashWindow.AFTER_EFFECT, delivery);
        return payment.order();
    }

    private static void work(int millis) throws SQLException {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new SQLException("Interrupted", stop);
        }
    }
}
