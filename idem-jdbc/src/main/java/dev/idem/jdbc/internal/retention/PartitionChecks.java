package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.marker.Partition;
import dev.idem.jdbc.internal.sql.Check;
import dev.idem.jdbc.internal.sql.RetentionSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Finding;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What is looked at when a store with partitions starts. */
public final class PartitionChecks {
    static final String CREATE =
            "Run 'idem retention run' with the owner of the tables, at least daily: it creates them "
                    + Partition.DAYS_AHEAD + " days ahead";

    private static final List<Check> CHECKS = List.of(
            Check.error(
                    "partition key",
                    "SELECT pg_get_partkeydef('${marker}'::regclass)"
                            + " WHERE pg_get_partkeydef('${marker}'::regclass) <> 'RANGE (message_key)'",
                    "The markers are not partitioned by the range of their keys",
                    "Create the table from the shipped schema: idem schema print --database postgresql --partitioned"),
            Check.error(
                    "partition kind",
                    """
                    SELECT string_agg(relname, ', ') FROM pg_inherits JOIN pg_class ON oid = inhrelid
                    WHERE inhparent = '${marker}'::regclass AND (relkind <> 'r' OR relpersistence <> 'p')
                    HAVING count(*) > 0
                    """,
                    "A partition is no ordinary, durable table",
                    "Replace it by one that is neither foreign, unlogged nor itself partitioned"),
            Check.error(
                    "partition index",
                    """
                    SELECT string_agg(c.relname, ', ') FROM pg_inherits i JOIN pg_index x ON x.indrelid = i.inhrelid
                    JOIN pg_class c ON c.oid = x.indexrelid WHERE i.inhparent = '${marker}'::regclass AND x.indisunique
                    AND NOT c.relispartition HAVING count(*) > 0
                    """,
                    "A partition has a unique index of its own, which would take new messages for old ones",
                    "Drop it: the primary key is all that is needed"),
            Check.warning(
                    "partition trigger",
                    """
                    SELECT string_agg(DISTINCT c.relname, ', ') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                    WHERE i.inhparent = '${marker}'::regclass AND (c.relrowsecurity OR c.relhasrules
                      OR EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal)) HAVING count(*) > 0
                    """,
                    "A trigger, rule or row policy on a partition can hide or stop markers",
                    "Remove it: messages would be answered with an anomaly, never acknowledged"));

    private PartitionChecks() {}

    public static List<Finding> run(Connection connection, Tables tables) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        for (Check check : CHECKS) {
            check.run(connection, tables).ifPresent(findings::add);
        }
        List<Partition> partitions = Partition.list(connection, tables);
        days(partitions, findings);
        if (findings.isEmpty()) {
            ahead(partitions, now(connection), findings);
        }
        return findings;
    }

    private static void days(List<Partition> partitions, List<Finding> findings) {
        if (partitions.stream().anyMatch(partition -> partition.bounds().equals("DEFAULT"))) {
            findings.add(error(
                    "default partition",
                    "The markers have a default partition, which would hide that others are missing, and would have to be"
                            + " searched whenever one is created",
                    "Move its rows to partitions of their days, and drop it"));
        }
        String odd = partitions.stream()
                .filter(partition ->
                        !partition.hasWholeDays() && !partition.bounds().equals("DEFAULT"))
                .map(partition -> partition.label() + " " + partition.bounds())
                .collect(Collectors.joining(", "));
        if (!odd.isEmpty()) {
            findings.add(error(
                    "partition bounds",
                    "The bounds of a partition are not whole days in UTC (" + odd + ")",
                    "Let 'idem retention run' create partitions, and remove this one"));
        }
    }

    private static void ahead(List<Partition> partitions, long now, List<Finding> findings) {
        if (partitions.stream().noneMatch(partition -> partition.covers(now))) {
            findings.add(error(
                    "partition of today",
                    "The markers have no partition for " + Instant.ofEpochMilli(now) + ", so no message of now can be"
                            + " processed",
                    CREATE));
        } else {
            long end = partitions.get(partitions.size() - 1).to();
            if (end < now + PartitionKeeper.FEWEST_DAYS_AHEAD * Partition.DAY) {
                findings.add(new Finding(
                        Finding.Severity.WARNING,
                        "partitions ahead",
                        "The last partition of the markers ends at " + Instant.ofEpochMilli(end)
                                + "; messages of later cannot be processed, and this role may not create partitions, or"
                                + " does not",
                        CREATE));
            }
        }
    }

    private static Finding error(String check, String problem, String action) {
        return new Finding(Finding.Severity.ERROR, check, problem, action);
    }

    static long now(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT " + RetentionSql.POSTGRESQL.now() + " / 1000")) {
            row.next();
            return row.getLong(1);
        }
    }
}
