package dev.idem.cli.torture;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The business tables. Nothing in them prevents an effect from being doubled or out of order, so what is in them is what
 * the workers did. The row of an ordering key says which of its messages was last; each effect carries what that row said
 * before, in the same transaction. So the effects of a key form a chain, in the order of their commits.
 */
final class Business {
    private static final String INSERT =
            "INSERT INTO torture_effect (number, mode, key, seq, previous) VALUES (?, ?, ?, ?, 0)";
    private static final String MOVE = "UPDATE torture_key SET previous = last, last = ? WHERE mode = ? AND key = ?";
    private static final String INSERT_NEXT = """
            INSERT INTO torture_effect (number, mode, key, seq, previous)
            SELECT ?, mode, key, last, previous FROM torture_key WHERE mode = ? AND key = ?
            """;

    private Business() {}

    static void create(String url, Plan plan) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE torture_effect (number int NOT NULL, mode int NOT NULL, key int NOT NULL,"
                    + " seq int NOT NULL, previous int NOT NULL)");
            statement.execute("CREATE TABLE torture_key (mode int, key int, last int NOT NULL, previous int NOT NULL,"
                    + " PRIMARY KEY (mode, key)) WITH (fillfactor = 50)");
            try (PreparedStatement insert =
                    connection.prepareStatement("INSERT INTO torture_key VALUES (?, ?, 0, 0) ON CONFLICT DO NOTHING")) {
                for (Item item : plan.items()) {
                    if (item.seq() == 1) {
                        insert.setInt(1, item.mode().code());
                        insert.setInt(2, item.key());
                        insert.addBatch();
                    }
                }
                insert.executeBatch();
            }
        }
    }

    /** The handler's effect, in the transaction of this connection. */
    static void write(Connection connection, Item item) throws SQLException {
        if (item.mode().isOrdered()) {
            execute(connection, MOVE, item.seq(), item.mode().code(), item.key());
            execute(connection, INSERT_NEXT, item.number(), item.mode().code(), item.key());
        } else {
            execute(connection, INSERT, item.number(), item.mode().code(), item.key(), item.seq());
        }
    }

    private static void execute(Connection connection, String sql, int... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setInt(i + 1, values[i]);
            }
            if (statement.executeUpdate() != 1) {
                throw new SQLException("No row was written by " + sql);
            }
        }
    }

    static long effects(String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM torture_effect")) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Reads these tables and nothing else. */
    static Verdict judge(String url, Plan plan, Set<Item> accepted) throws SQLException {
        List<Verdict.Effect> effects = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT number, previous FROM torture_effect")) {
            while (rows.next()) {
                effects.add(new Verdict.Effect(rows.getInt(1), rows.getInt(2)));
            }
        }
        return Verdict.of(plan, accepted, effects);
    }
}
