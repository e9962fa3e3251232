package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Walks a PostgreSQL table in the order of its pages, all consumers at once. That needs no index on the time, which would
 * make every marker half as big again, and reads each page once. Rows that running units have inserted are not visible
 * and not waited for.
 */
final class CtidScan implements TableScan {
    /** Of the smallest markers; of others there are fewer. */
    private static final int MARKERS_ON_A_PAGE = 130;

    static final String OLD = """
            ctid >= '(%d,0)'::tid AND ctid < '(%d,0)'::tid AND %s < CASE consumer %s END
            """;

    private static final String COUNT = "SELECT consumer, count(*) FROM %s WHERE %s GROUP BY consumer";

    private static final String REMOVE_MARKERS = """
            WITH gone AS (
              DELETE FROM %s WHERE %s RETURNING consumer, message_key, marked_at
            ), newest AS (
              SELECT consumer, count(*) AS markers, CAST(extract(epoch FROM max(marked_at)) * 1000000 AS bigint) AS at
              FROM gone GROUP BY consumer
            ), raised AS (
              UPDATE ${retention} r SET horizon = greatest(coalesce(r.horizon, n.at), n.at),
                sample_key = CASE WHEN EXISTS (SELECT 1 FROM gone g WHERE g.consumer = r.consumer
                  AND g.message_key = r.sample_key) THEN NULL ELSE r.sample_key END
              FROM newest n WHERE r.consumer = n.consumer RETURNING r.consumer
            )
            SELECT n.consumer, n.markers, r.consumer IS NOT NULL FROM newest n LEFT JOIN raised r USING (consumer)
            """;

    private static final String REMOVE_RESULTS = """
            WITH gone AS (DELETE FROM %s WHERE %s RETURNING consumer)
            SELECT consumer, count(*), true FROM gone GROUP BY consumer
            """;

    private final Tables tables;
    private final Expiring expiring;
    private final String limits;
    private final long pages;
    private final long step;
    private long page;

    private CtidScan(Tables tables, Expiring expiring, String limits, long pages, int rows) {
        this.step = Math.max(1, rows / MARKERS_ON_A_PAGE);
        this.tables = tables;
        this.expiring = expiring;
        this.limits = limits;
        this.pages = pages;
    }

    static TableScan through(
            Expiring expiring, Tables tables, Connection connection, List<Cutoffs.Cutoff> cutoffs, int rows)
            throws SQLException {
        StringBuilder limits = new StringBuilder();
        for (Cutoffs.Cutoff cutoff : cutoffs) {
            long limit = expiring.limit(cutoff);
            if (limit != Micros.NEVER) {
                limits.append("WHEN ")
                        .append(cutoff.consumer())
                        .append(" THEN timestamptz 'epoch' + ")
                        .append(limit)
                        .append(" * interval '1 microsecond' ");
            }
        }
        long pages = limits.length() == 0 ? 0 : pages(connection, tables.fill(expiring.table()));
        return new CtidScan(tables, expiring, limits.toString(), pages, rows);
    }

    /** A table in partitions has no pages of its own: markers go with their partition ({@link PartitionDrop}). */
    private static long pages(Connection connection, String table) throws SQLException {
        String sql =
                "SELECT pg_relation_size('" + table + "'::regclass) / CAST(current_setting('block_size') AS bigint)";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Override
    public String what() {
        return expiring.what();
    }

    @Override
    public boolean hasNext() {
        return page < pages;
    }

    @Override
    public Map<Integer, Long> step(Connection connection, boolean dryRun) throws SQLException {
        String old = OLD.formatted(page, page + step, expiring.column(), limits) + expiring.unless(dryRun);
        String remove = expiring == Expiring.MARKERS ? REMOVE_MARKERS : REMOVE_RESULTS;
        String sql = tables.fill((dryRun ? COUNT : remove).formatted(expiring.table(), old));
        Map<Integer, Long> counts = new HashMap<>();
        try (Statement statement = connection.createStatement()) {
            // The horizon's row may be locked by a unit that has read it; what was removed must not wait as long as
            // that.
            statement.execute("SET LOCAL lock_timeout = '1s'");
            ResultSet rows = statement.executeQuery(sql);
            while (rows.next()) {
                counts.put(rows.getInt(1), rows.getLong(2));
                if (!dryRun && !rows.getBoolean(3)) {
                    throw new SQLException("The horizon of consumer " + rows.getInt(1) + " could not be raised");
                }
            }
        }
        return counts;
    }

    @Override
    public void advance() {
        page += step;
    }

    @Override
    public int percent() {
        return pages == 0 ? 100 : (int) Math.min(100, 100 * page / pages);
    }
}
