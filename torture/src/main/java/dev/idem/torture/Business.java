package dev.idem.torture;

import dev.idem.steps.EffectKey;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;

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

    private static final String CALL = "INSERT INTO torture_call (key, number, fence) VALUES (?, ?, ?)";
    private static final String NOTE_STORED = """
            CREATE FUNCTION torture_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
              INSERT INTO torture_stored VALUES (CAST(split_part(convert_from(NEW.payload, 'UTF8'), ':', 1) AS int), NEW.id);
              RETURN NULL;
            END $$
            """;

    private Business() {}

    static void create(String url, Plan plan) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE torture_effect (number int NOT NULL, mode int NOT NULL, key int NOT NULL,"
                    + " seq int NOT NULL, previous int NOT NULL)");
            statement.execute("CREATE TABLE torture_key (mode int, key int, last int NOT NULL, previous int NOT NULL,"
                    + " PRIMARY KEY (mode, key)) WITH (fillfactor = 50)");
            statement.execute(
                    "CREATE TABLE torture_call (key text NOT NULL, number int NOT NULL, fence bigint NOT NULL)");
            statement.execute("CREATE TABLE torture_stored (number int NOT NULL, id bigint NOT NULL)");
            statement.execute(NOTE_STORED);
            statement.execute("CREATE TRIGGER torture_note AFTER INSERT ON idem_queue FOR EACH ROW"
                    + " WHEN (NEW.ordering_key LIKE '" + Item.RACED + "%') EXECUTE FUNCTION torture_note()");
            Clock.create(connection);
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

    /** What a provider sees of a call; nothing undoes it. */
    static void call(DataSource provider, Item item, EffectKey key) throws SQLException {
        try (Connection connection = provider.getConnection();
                PreparedStatement insert = connection.prepareStatement(CALL)) {
            insert.setString(1, key.value());
            insert.setInt(2, item.number());
            insert.setLong(3, key.fence());
            insert.executeUpdate();
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

    /** What the provider says when a person asks. */
    static boolean wasCalled(String url, String key) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                PreparedStatement query = connection.prepareStatement("SELECT 1 FROM torture_call WHERE key = ?")) {
            query.setString(1, key);
            try (ResultSet row = query.executeQuery()) {
                return row.next();
            }
        }
    }

    /**
     * Reads these tables and nothing else.
     *
     * @param changed the numbers of messages that were parked because their handler had changed
     */
    static Verdict judge(String url, Plan plan, Set<Item> accepted, Set<Integer> changed) throws SQLException {
        List<Verdict.Effect> effects = new ArrayList<>();
        List<Verdict.Call> calls = new ArrayList<>();
        List<Integer> stored = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT number, previous FROM torture_effect")) {
            while (rows.next()) {
                effects.add(new Verdict.Effect(rows.getInt(1), rows.getInt(2)));
            }
            try (ResultSet row = statement.executeQuery("SELECT number, key, fence FROM torture_call")) {
                while (row.next()) {
                    calls.add(new Verdict.Call(row.getInt(1), row.getString(2), row.getLong(3)));
                }
            }
            try (ResultSet row = statement.executeQuery("SELECT number FROM torture_stored ORDER BY id")) {
                while (row.next()) {
                    stored.add(row.getInt(1));
                }
            }
        }
        return Verdict.of(plan, accepted, changed, new Verdict.Facts(effects, calls, stored));
    }
}
