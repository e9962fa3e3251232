package dev.idem.cli.demo;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The ways in which hand-written consumers recognise a duplicate. */
interface NaiveCheck {
    boolean seen(Connection connection, Payment payment) throws SQLException;

    default void remember(Payment payment) {}

    /** Every delivery is new. */
    static NaiveCheck none() {
        return (connection, payment) -> false;
    }

    /** Twins that run at the same time both find nothing, and a restart forgets everything. */
    static NaiveCheck inMemory() {
        Set<String> ids = ConcurrentHashMap.newKeySet();
        return new NaiveCheck() {
            @Override
            public boolean seen(Connection connection, Payment payment) {
                return ids.contains(payment.id());
            }

            @Override
            public void remember(Payment payment) {
                ids.add(payment.id());
            }
        };
    }

    /** Survives a restart, but twins that run at the same time both find nothing. */
    static NaiveCheck inTable() {
        return (connection, payment) -> {
            try (PreparedStatement select = connection.prepareStatement("SELECT 1 FROM payment WHERE order_id = ?")) {
                select.setString(1, payment.order());
                try (ResultSet rows = select.executeQuery()) {
                    return rows.next();
                }
            }
        };
    }
}
