package dev.idem.bench.contender;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** The business: one row for each payment. The same statement for every contender. */
public final class Payments {
    static final String INSERT = "INSERT INTO payment (order_id, cents) VALUES (?, ?)";

    private Payments() {}

    public static void create(DataSource dataSource) throws SQLException {
        Sql.execute(dataSource, """
                CREATE TABLE payment (
                  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                  order_id text   NOT NULL,
                  cents    bigint NOT NULL
                )
                """);
    }

    static void pay(Connection connection, Delivery delivery) throws SQLException {
        pay(connection, delivery.order(), delivery.cents());
        failIfMeantTo(delivery.failing());
    }

    static void pay(Connection connection, String order, long cents) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setString(1, order);
            insert.setLong(2, cents);
            insert.executeUpdate();
        }
    }

    static void payAll(Connection connection, List<Delivery> deliveries) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            for (Delivery delivery : deliveries) {
                insert.setString(1, delivery.order());
                insert.setLong(2, delivery.cents());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    static void failIfMeantTo(boolean failing) {
        if (failing) {
            throw new IllegalStateException("this handler is meant to fail");
        }
    }
}
