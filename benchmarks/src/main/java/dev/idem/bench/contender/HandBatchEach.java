package dev.idem.bench.contender;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * A batch by hand: one claim for all keys, then the handlers one by one, one commit. Nothing keeps the messages apart: if
 * one failed, all would. So it shows what Idem's isolation costs.
 */
final class HandBatchEach implements Contender {
    private static final String CLAIM = """
            INSERT INTO hand_batch_inbox (consumer, message_key, fingerprint)
            SELECT 1, key, '\\x0102030405' FROM unnest(?) key ORDER BY key
            ON CONFLICT (consumer, message_key) DO NOTHING RETURNING message_key
            """;

    private final DataSource dataSource;

    HandBatchEach(DataSource dataSource) throws SQLException {
        this.dataSource = dataSource;
        Sql.execute(dataSource, """
                CREATE TABLE IF NOT EXISTS hand_batch_inbox (
                  message_key  uuid        NOT NULL,
                  processed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                  consumer     smallint    NOT NULL,
                  fingerprint  bytea,
                  PRIMARY KEY (consumer, message_key)
                )
                """);
    }

    @Override
    public String name() {
        return "hand-batch-each";
    }

    @Override
    public List<String> tables() {
        return List.of("hand_batch_inbox");
    }

    @Override
    public void handle(List<Delivery> batch) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Set<String> claimed = claim(connection, batch);
            for (Delivery delivery : batch) {
                if (claimed.remove(delivery.id())) {
                    Payments.pay(connection, delivery.request());
                }
            }
            connection.commit();
        }
    }

    private static Set<String> claim(Connection connection, List<Delivery> batch) throws SQLException {
        Object[] keys =
                batch.stream().map(delivery -> UUID.fromString(delivery.id())).toArray();
        Array array = connection.createArrayOf("uuid", keys);
        try (PreparedStatement insert = connection.prepareStatement(CLAIM)) {
            insert.setArray(1, array);
            Set<String> claimed = new HashSet<>();
            try (ResultSet rows = insert.executeQuery()) {
                while (rows.next()) {
                    claimed.add(rows.getString(1));
                }
            }
            return claimed;
        } finally {
            array.free();
        }
    }
}
