package dev.idem.bench.contender;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The upsert that a careful team writes by hand: no tripwire, no guard, no fingerprint. */
final class Hand extends OneByOne {
    private static final String CLAIM =
            "INSERT INTO hand_inbox (consumer, message_id) VALUES (?, ?) ON CONFLICT (consumer, message_id) DO NOTHING";

    private final DataSource dataSource;

    Hand(DataSource dataSource) throws SQLException {
        super("hand", "hand_inbox");
        this.dataSource = dataSource;
        Sql.execute(dataSource, """
                CREATE TABLE IF NOT EXISTS hand_inbox (
                  consumer     text        NOT NULL,
                  message_id   text        NOT NULL,
                  processed_at timestamptz NOT NULL DEFAULT now(),
                  PRIMARY KEY (consumer, message_id)
                )
                """);
    }

    @Override
    void handle(Delivery delivery) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            if (claim(connection, delivery)) {
                Payments.pay(connection, delivery.request());
            }
            connection.commit();
        }
    }

    private static boolean claim(Connection connection, Delivery delivery) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(CLAIM)) {
            insert.setString(1, "payments");
            insert.setString(2, delivery.id());
            return insert.executeUpdate() == 1;
        }
    }
}
