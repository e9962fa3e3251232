package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.marker.Partition;
import dev.idem.jdbc.internal.sql.RetentionSql;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Creates partitions ahead of time, one for each day. Any number of instances may do so at once, and while messages flow:
 * a new partition is made as a table of its own and then attached, which needs a lock on the marker table that only
 * others who create must wait for. Days are only ever added behind the newest partition, so that none comes back that was
 * dropped.
 */
public final class PartitionKeeper {
    /** Below that a person should look: nobody has created any for days. */
    static final int FEWEST_DAYS_AHEAD = 3;

    /** How far back a new table goes unless told otherwise: as far as brokers usually keep messages. */
    static final int DAYS_BACK = 7;

    private static final int TRIES = 5;

    private static final String MAY = """
            SELECT pg_has_role(c.relowner, 'USAGE') AND has_schema_privilege(c.relnamespace, 'CREATE')
            FROM pg_class c WHERE c.oid = '${marker}'::regclass
            """;

    private static final String NOW = "SELECT " + RetentionSql.POSTGRESQL.now() + " / 1000,"
            + " (SELECT count(*) = 0 FROM ${retention}), (SELECT max(horizon) / 1000 FROM ${retention})";

    private final DataSource dataSource;
    private final Tables tables;
    private final @Nullable Integer daysBack;

    public PartitionKeeper(DataSource dataSource, Tables tables) {
        this(dataSource, tables, null);
    }

    /**
     * With the number of days that a table without any partition gets before today. Where nobody has said it, a table
     * without a past gets some, and any other none, because somebody must have dropped what was there.
     */
    public PartitionKeeper(DataSource dataSource, Tables tables, @Nullable Integer daysBack) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.daysBack = daysBack;
    }

    /** Whether this role may create and drop partitions. */
    public boolean isPermitted() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> {
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery(tables.fill(MAY))) {
                    return row.next() && row.getBoolean(1);
                }
            });
        }
    }

    /** Creates what is missing up to {@link Partition#DAYS_AHEAD}; answers the names, or in a dry run those it would create. */
    public List<String> createAhead(boolean dryRun) throws SQLException {
        List<String> created = new ArrayList<>();
        for (Partition partition : missing()) {
            if (dryRun || create(partition)) {
                created.add(partition.label());
            }
        }
        return created;
    }

    private List<Partition> missing() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> {
                List<Partition> there = Partition.list(connection, tables);
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery(tables.fill(NOW))) {
                    row.next();
                    long today = Partition.dayOf(row.getLong(1));
                    long afterHorizon = Partition.dayOf(row.getLong(3)) + Partition.DAY;
                    long usual = row.getBoolean(2) ? today - DAYS_BACK * Partition.DAY : today;
                    long first = daysBack == null
                            ? Math.max(usual, afterHorizon)
                            : today - daysBack * Partition.DAY; // should it be too much, the horizon still tells
                    first = there.isEmpty()
                            ? first
                            : there.get(there.size() - 1).to();
                    return days(first, today + (Partition.DAYS_AHEAD + 1) * Partition.DAY);
                }
            });
        }
    }

    private List<Partition> days(long first, long end) {
        List<Partition> days = new ArrayList<>();
        for (long day = first; day < end; day += Partition.DAY) {
            days.add(Partition.ofDay(tables, day));
        }
        return days;
    }

    /** False when another instance was faster. */
    private boolean create(Partition partition) throws SQLException {
        SqlFaults faults = new SqlFaults(tables.dialect().faults());
        for (int i = 1; ; i++) {
            try (Connection connection = dataSource.getConnection()) {
                return Transactions.alone(connection, () -> create(connection, partition));
            } catch (SQLException failure) {
                if (i == TRIES || !faults.isTransient(failure)) {
                    throw failure;
                }
            }
        }
    }

    private boolean create(Connection connection, Partition partition) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    "SET LOCAL lock_timeout = '" + Duration.ofSeconds(1).toMillis() + "ms'");
            // Keeps apart those who create and drop; deliveries do not notice.
            statement.execute(tables.fill("LOCK TABLE ONLY ${marker} IN SHARE UPDATE EXCLUSIVE MODE"));
            if (Partition.list(connection, tables).stream().anyMatch(there -> there.covers(partition.from()))) {
                return false;
            }
            statement.execute(tables.fill("CREATE TABLE " + partition.name() + " (LIKE ${marker} INCLUDING ALL)"));
            statement.execute(tables.fill(
                    "ALTER TABLE ${marker} ATTACH PARTITION " + partition.name() + " " + partition.bounds()));
            return true;
        }
    }
}
