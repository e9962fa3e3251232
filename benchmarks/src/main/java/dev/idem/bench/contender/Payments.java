package dev.idem.bench.contender;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
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

    static void pay(Connection connection, PaymentRequest request) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            pay(insert, request);
        }
        if (request.failing()) {
            throw new IllegalStateException("this handler is meant to fail");
        }
    }

    /** With a statement of the same kind, but asked for in a way in which Idem has it carry nothing else. */
    static void payApart(Connection connection, PaymentRequest request) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement(INSERT, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            pay(insert, request);
        }
    }

    private static void pay(PreparedStatement insert, PaymentRequest request) throws SQLException {
        insert.setString(1, request.order());
        insert.setLong(2, request.cents());
        insert.executeUpdate();
    }

    static void payAll(Connection connection, List<PaymentRequest> requests) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            for (PaymentRequest request : requests) {
                insert.setString(1, request.order());
                insert.setLong(2, request.cents());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }
}
