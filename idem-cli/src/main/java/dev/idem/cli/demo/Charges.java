package dev.idem.cli.demo;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The business effect, the same for every seat: a row in {@code payment}, and some time for the rest of the work. */
final class Charges {
    private final Answers answers;
    private final Set<String> failedHere = ConcurrentHashMap.newKeySet();

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
        fail(delivery);
        answers.pass(CrashWindow.AFTER_EFFECT, delivery);
        return payment.order();
    }

    /** After the insert, so that it has to be undone. */
    private void fail(Delivery delivery) throws SQLException {
        if (delivery.trouble() == Trouble.DECLINED) {
            answers.send(new Answer.Failed(delivery.tag()));
            throw new Declined(delivery.payment());
        }
        if (delivery.trouble() == Trouble.FAILS_FIRST
                && failedHere.add(delivery.payment().id())) {
            answers.send(new Answer.Failed(delivery.tag()));
            throw new IllegalStateException(delivery.payment().order() + " fails at first");
        }
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
