package dev.idem.jdbc.library;

import dev.idem.Message;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** What the guide's snippets talk to. */
final class GuideShop {
    private GuideShop() {}

    record Receipt(String order) {}

    static final class Payments {
        Receipt charge(Connection connection, String order) throws SQLException {
            try (PreparedStatement insert =
                    connection.prepareStatement("MERGE INTO payment KEY (order_id) VALUES (?)")) {
                insert.setString(1, order);
                insert.executeUpdate();
                return new Receipt(order);
            }
        }
    }

    static final class Broker {
        int acknowledged;

        void acknowledge(Message message) {
            acknowledged++;
        }

        void deliverAgainLater(Message message) {}

        void setAside(Message message) {}
    }

    static final class Counters {
        volatile String counted = "";

        void count(String consumer, String type, String outcome) {
            counted = consumer + " " + type + " " + outcome;
        }

        void alarm(String consumer, Exception cause) {}
    }
}
