package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.guard.HandlerConnections;
import dev.idem.jdbc.internal.guard.SqlText;
import dev.idem.jdbc.internal.sql.BatchSql;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StatementSize;
import dev.idem.jdbc.internal.sql.Tables;
import java.util.Set;

/** What all batches of a store share. Stateless. */
public record BatchKit(
        Tables tables,
        Markers single,
        BatchMarkers markers,
        SqlFaults faults,
        SqlText sqlText,
        HandlerConnections handlers,
        Partitions partitions,
        StatementSize size) {
    BatchSql sql() {
        return tables.dialect().batch();
    }

    Set<Integer> takenCodes() {
        return tables.dialect().takenCodes();
    }
}
