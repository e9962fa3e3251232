package dev.idem.jdbc;

import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Settlement;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** As little of a broker as a scene needs: it delivers until it hears an acknowledgement, and then forgets. */
final class DefectBroker {
    static final String CONSUMER = "payments";
    private static final int MOST_DELIVERIES = 20;

    private DefectBroker() {}

    /** One delivery; true is an acknowledgement, an exception is none. */
    interface Delivery {
        boolean acknowledged() throws Exception;
    }

    static void deliver(Delivery delivery) {
        for (int i = 0; i < MOST_DELIVERIES; i++) {
            if (once(delivery)) {
                return;
            }
        }
        throw new AssertionError("not acknowledged after " + MOST_DELIVERIES + " deliveries");
    }

    static boolean once(Delivery delivery) {
        try {
            return delivery.acknowledged();
        } catch (Exception comesAgain) {
            return false;
        }
    }

    static boolean acknowledges(Outcome<?> outcome) {
        return outcome.settlement() == Settlement.ACK;
    }

    static Message message(String id) {
        return message(id, "pay");
    }

    static Message message(String id, String payload) {
        return Message.of(id, payload.getBytes(StandardCharsets.UTF_8));
    }

    /** Runs in a transaction of its own, as a consumer without a library would. */
    static boolean inTransaction(Connection connection, Delivery body) throws Exception {
        connection.setAutoCommit(false);
        try {
            boolean acknowledged = body.acknowledged();
            connection.commit();
            return acknowledged;
        } catch (Exception failure) {
            connection.rollback();
            throw failure;
        } finally {
            connection.setAutoCommit(true);
        }
    }

    static int update(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }

    static boolean exists(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeQuery(sql).next();
        }
    }
}
