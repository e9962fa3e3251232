package dev.idem.cli.demo;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The business table. Nothing in it prevents a double charge, so what is in it is what the consumer did. */
final class Ledger {
    private final String url;

    Ledger(String url) {
        this.url = url;
    }

    void create() throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE payment (order_id varchar(40) NOT NULL, amount_cents bigint NOT NULL)");
            statement.execute("CREATE INDEX payment_order ON payment (order_id)");
        }
    }

    /** Compares what was charged with what should have been. */
    Count count(DemoPlan plan) throws SQLException {
        Map<String, Integer> charges = new HashMap<>();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT order_id FROM payment")) {
            while (rows.next()) {
                charges.merge(rows.getString(1), 1, Integer::sum);
            }
        }
        Set<Payment> declined = plan.declined();
        int doubled = 0;
        int lost = 0;
        long overcharged = 0;
        for (Payment payment : plan.payments()) {
            int times = charges.getOrDefault(payment.order(), 0);
            int due = declined.contains(payment) ? 0 : 1;
            lost += times < due ? 1 : 0;
            doubled += times > due ? 1 : 0;
            overcharged += payment.cents() * Math.max(0, times - due);
        }
        return new Count(doubled, lost, overcharged);
    }

    /** Orders charged more than once, orders never charged, and the money taken too often. */
    record Count(int doubled, int lost, long overchargedCents) {}
}
