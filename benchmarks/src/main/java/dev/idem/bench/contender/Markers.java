package dev.idem.bench.contender;

import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.JdbcRetention;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** The history of a long-lived consumer, written straight into the marker table of its prefix. */
public final class Markers {
    private static final int CHUNK = 250_000;

    /** As many as the server can make: version 4. */
    private static final String RANDOM_KEY = "gen_random_uuid()";

    /** Version 7, ten a millisecond, all before today. */
    private static final String ORDERED_KEY = """
            CAST(lpad(to_hex(CAST(extract(epoch FROM now()) * 1000 AS bigint) - 86400000 + i / 10), 12, '0')
              || '7' || substr(md5(CAST(i AS text)), 1, 3) || '8' || substr(md5(CAST(i AS text)), 4, 15) AS uuid)
            """;

    private final DataSource dataSource;
    private final String prefix;

    public Markers(DataSource dataSource, String prefix) {
        this.dataSource = dataSource;
        this.prefix = prefix;
    }

    /** Adds markers of the given age with the index in place, so that it looks as if messages had made them. */
    public void fill(int count, boolean timeOrdered, String age, Consumer<String> progress) throws SQLException {
        String insert = String.format(
                Locale.ROOT, """
                INSERT INTO %1$smarker (message_key, consumer, fingerprint, marked_at)
                SELECT %2$s, number, 16909060, clock_timestamp() - CAST('%3$s' AS interval)
                FROM generate_series(?, ?) i, %1$sconsumer WHERE name = '%4$s'
                """, prefix, timeOrdered ? ORDERED_KEY : RANDOM_KEY, age, IdemSetup.CONSUMER);
        for (int from = 1; from <= count; from += CHUNK) {
            int to = Math.min(count, from + CHUNK - 1);
            insert(insert, from, to);
            progress.accept(String.format(Locale.ROOT, "%smarker: %,d of %,d markers", prefix, to, count));
        }
    }

    private void insert(String sql, int from, int to) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            try (Statement setting = connection.createStatement();
                    PreparedStatement insert = connection.prepareStatement(sql)) {
                setting.execute("SET LOCAL synchronous_commit = off");
                insert.setInt(1, from);
                insert.setInt(2, to);
                insert.executeUpdate();
            }
            connection.commit();
        }
    }

    /** What a server that has been running for long has behind it, so that it does not happen in a measurement. */
    public void settle() throws SQLException {
        Sql.execute(dataSource, "VACUUM ANALYZE " + prefix + "marker", "CHECKPOINT");
    }

    /** Removes what is older than the window, as the elected instance does; answers how many. */
    public long sweep() {
        return JdbcRetention.of(JdbcSchema.of(dataSource, null, null, prefix))
                .run(List.of(IdemSetup.CONSUMER), progress -> {})
                .consumers()
                .stream()
                .mapToLong(JdbcRetention.Swept::markers)
                .sum();
    }

    /** Of the table with its indexes. */
    public double bytesEach() throws SQLException {
        long bytes = Sql.number(dataSource, "SELECT pg_total_relation_size('" + prefix + "marker')");
        return (double) bytes / count();
    }

    public long count() throws SQLException {
        return Sql.number(dataSource, "SELECT count(*) FROM " + prefix + "marker");
    }
}
