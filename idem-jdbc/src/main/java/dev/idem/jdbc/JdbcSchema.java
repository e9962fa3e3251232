package dev.idem.jdbc;

import dev.idem.StoreException;
import dev.idem.jdbc.internal.marker.CanaryMarkers;
import dev.idem.jdbc.internal.retention.PartitionChecks;
import dev.idem.jdbc.internal.retention.PartitionKeeper;
import dev.idem.jdbc.internal.sql.Check;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Identifier;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.Finding;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The tables: prints, creates and checks them. The scripts are files in this jar, by version and database; what is
 * printed is what is applied. Thread-safe.
 */
public final class JdbcSchema {
    /** The schema version this release reads and writes. */
    public static final int VERSION = 1;

    /** The prefix of all tables unless another one is chosen. */
    public static final String DEFAULT_PREFIX = "idem_";

    private static final String PARTITIONED = "-partitioned";

    private static final int TRIES = 8;

    private final DataSource dataSource;
    private volatile Tables tables;

    JdbcSchema(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
    }

    /** The schema of a data source, with the default prefix, in the schema its connections are in. */
    public static JdbcSchema of(DataSource dataSource) {
        return of(dataSource, null, null, DEFAULT_PREFIX);
    }

    /**
     * The schema of a data source.
     *
     * @param database which database it is, or null to ask the driver
     * @param schema where the tables are, or null for the schema the connections are in
     */
    public static JdbcSchema of(
            DataSource dataSource, @Nullable Database database, @Nullable String schema, String prefix) {
        try (Connection connection = dataSource.getConnection()) {
            Dialect dialect = database == null ? Dialect.detect(connection) : Dialect.of(database);
            Identifier place = schema == null ? null : new Identifier(schema);
            Tables tables = Tables.in(connection, dialect, place, new Identifier(prefix));
            return new JdbcSchema(dataSource, found(connection, tables));
        } catch (SQLException failure) {
            throw new StoreException(
                    "Could not look at the database (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure),
                    failure);
        }
    }

    /** The tables in the form they have; those that are not there yet have none. */
    private static Tables found(Connection connection, Tables tables) throws SQLException {
        if (tables.dialect().database() != Database.POSTGRESQL) {
            return tables;
        }
        String sql = tables.fill("SELECT 1 FROM pg_class WHERE oid = to_regclass('${marker}') AND relkind = 'p'");
        return Transactions.alone(connection, () -> {
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery(sql)) {
                return rows.next() ? tables.withPartitions() : tables;
            }
        });
    }

    /** Whether the markers are in partitions by time, one for each day. */
    public boolean partitioned() {
        return tables.partitioned();
    }

    /** The script for a database, as a person would run it; without a schema the names are unqualified. */
    public static String script(Database database, @Nullable String schema, String prefix) {
        return filled(resource(database, ""), database, schema, prefix);
    }

    /**
     * The script for PostgreSQL with markers in partitions by time. It creates no partition:
     * {@link #applyPartitioned} does, and a store or {@code idem retention run} with a role that may.
     */
    public static String partitionedScript(@Nullable String schema, String prefix) {
        String script = resource(Database.POSTGRESQL, PARTITIONED) + resource(Database.POSTGRESQL, "");
        return filled(script, Database.POSTGRESQL, schema, prefix);
    }

    private static String filled(String script, Database database, @Nullable String schema, String prefix) {
        if (schema != null) {
            return Tables.in(Dialect.of(database), new Identifier(schema), new Identifier(prefix))
                    .fill(script);
        }
        String checked = new Identifier(prefix).name();
        return script.replace("${prefix}", checked).replaceAll("\\$\\{(\\w+)}", checked + "$1");
    }

    public Database database() {
        return tables.dialect().database();
    }

    /** Where the tables are, as the database knows it. */
    public String schemaName() {
        return tables.schemaName();
    }

    /** What the names of all tables begin with. */
    public String prefix() {
        return tables.prefix().name();
    }

    /** The data source it was made of. */
    public DataSource dataSource() {
        return dataSource;
    }

    Tables tables() {
        return tables;
    }

    /**
     * Creates what is missing; what is there stays as it is. Several instances may do it at once. Where the markers are in
     * partitions, also creates those of the next days.
     */
    public void apply() {
        apply(resource(database(), ""), null);
    }

    /**
     * Creates what is missing, with the markers in partitions by time, one for each day. Only for PostgreSQL, and for
     * consumers whose keys begin with a time: see {@link dev.idem.KeySelector#timeOrdered}.
     *
     * @param daysBack how many days before today get a partition, if there is none yet; a message from before them is
     *     undecidable
     * @throws StoreException when the database is another one, or has a marker table without partitions
     */
    public void applyPartitioned(int daysBack) {
        if (daysBack < 0 || daysBack > 3650) {
            throw new IllegalArgumentException("daysBack is " + daysBack + ", but must be between 0 and 3650");
        }
        if (database() != Database.POSTGRESQL) {
            throw new StoreException(
                    "Markers can be in partitions on PostgreSQL only, and this is "
                            + database().product(),
                    null);
        }
        tables = tables.withPartitions();
        apply(resource(Database.POSTGRESQL, PARTITIONED) + resource(Database.POSTGRESQL, ""), daysBack);
    }

    /** IF NOT EXISTS does not keep two that start at once apart; each time more of it is there. */
    private void apply(String script, @Nullable Integer daysBack) {
        for (int i = 1; ; i++) {
            try {
                applyOnce(script, daysBack);
                return;
            } catch (SQLException failure) {
                if (i == TRIES) {
                    throw new StoreException(
                            "Could not create the tables " + tables + " (SQLState " + failure.getSQLState() + "): "
                                    + SqlFaults.advice(failure)
                                    + "; or run 'idem schema apply' with a role that may create tables, or give the"
                                    + " printed script to your migration tool",
                            failure);
                }
            }
        }
    }

    private void applyOnce(String script, @Nullable Integer daysBack) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            Transactions.alone(connection, () -> {
                for (String sql : Script.statements(tables.fill(script))) {
                    try (Statement statement = connection.createStatement()) {
                        statement.execute(sql);
                    }
                }
                return true;
            });
            Tables there = found(connection, tables.withoutPartitions());
            if (tables.partitioned() && !there.partitioned()) {
                tables = there;
                throw new StoreException(
                        "The markers of " + tables
                                + " are there, and not in partitions. A table cannot be changed into a"
                                + " partitioned one: see docs/operations.md, 'Markers in partitions', for how to move",
                        null);
            }
        }
        if (tables.partitioned()) {
            new PartitionKeeper(dataSource, tables, daysBack).createAhead(false);
        }
    }

    /** Looks for everything that would break or weaken the promise; an empty list is good news. */
    public List<Finding> validate() {
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> validate(connection));
        } catch (SQLException failure) {
            throw new StoreException(
                    "Could not check the tables " + tables + " (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure),
                    failure);
        }
    }

    private List<Finding> validate(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>(version(connection));
        if (findings.isEmpty()) {
            findings.addAll(SchemaParts.missing(connection, tables, script()));
        }
        if (findings.isEmpty()) {
            for (Check check : tables.dialect().checks()) {
                check.run(connection, tables).ifPresent(findings::add);
            }
            if (tables.partitioned()) {
                findings.addAll(PartitionChecks.run(connection, tables));
            }
            if (findings.stream().noneMatch(finding -> finding.severity() == Finding.Severity.ERROR)) {
                CanaryMarkers.CHECK.run(connection, tables).ifPresent(findings::add);
            }
        }
        return findings;
    }

    /** What created the tables, in the form they have. */
    private String script() {
        String plain = resource(database(), "");
        return partitioned() ? resource(database(), PARTITIONED) + plain : plain;
    }

    private List<Finding> version(Connection connection) throws SQLException {
        int found = 0;
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill("SELECT version FROM ${meta}"))) {
            found = rows.next() ? rows.getInt(1) : 0;
        } catch (SQLException absent) {
            connection.rollback(); // the reason is in the finding below: whatever it is, the tables cannot be used
            return List.of(NoTables.finding(connection, tables, absent));
        }
        return found == VERSION
                ? List.of()
                : List.of(new Finding(
                        Finding.Severity.ERROR,
                        "schema version",
                        "The tables " + tables + " have version " + found + ", this release needs " + VERSION,
                        "Upgrade them: see docs/upgrading.md"));
    }

    /** The file as it is in the jar. */
    static String resource(Database database, String form) {
        String name = "schema/v" + VERSION + "/" + database.label() + form + ".sql";
        try (InputStream file = JdbcSchema.class.getResourceAsStream(name)) {
            if (file == null) {
                throw new IllegalStateException(name + " is missing from the jar");
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new IllegalStateException(name + " cannot be read", unreadable);
        }
    }
}
