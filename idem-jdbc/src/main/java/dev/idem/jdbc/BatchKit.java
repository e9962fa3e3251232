package dev.idem.jdbc;

import java.util.Set;

/** What all batches of a store share. Stateless. */
record BatchKit(
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
