package dev.idem.jdbc.internal.sql;

import dev.idem.jdbc.schema.Database;

/**
 * What differs between databases in keeping and removing history. Times are microseconds since 1970 everywhere.
 *
 * @param now the database's clock
 * @param micros a time column as such a number
 * @param insertRow gives a consumer its row, if it has none
 * @param lockedRead the end of a query that must see what is committed now, whatever the snapshot
 * @param lockRow locks the consumer's row, and does not wait long for it
 * @param deleteKeys removes the keys given, and answers the times of those that were really there and old enough
 */
public record RetentionSql(
        String now, String micros, String insertRow, String lockedRead, String lockRow, String deleteKeys) {
    private static final String INSERT = "INSERT INTO ${retention} (consumer, keep_for, declared_at, keep_results_for,"
            + " results_declared_at, seen_at) ";
    private static final String ROW = ":consumer, :keep, %1$s, :results, %1$s, %1$s";
    private static final String LOCK_ROW = "SELECT consumer FROM ${retention} WHERE consumer = :consumer FOR UPDATE";
    private static final String DELETE =
            "DELETE FROM %1$s WHERE consumer = ? AND message_key IN (%2$s) AND %3$s < ? %4$s";

    public static final RetentionSql POSTGRESQL = of(
            "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)",
            "CAST(extract(epoch FROM %s) * 1000000 AS bigint)",
            INSERT + "VALUES (" + ROW + ") ON CONFLICT (consumer) DO NOTHING",
            " FOR SHARE", // a weaker lock takes the version that the snapshot shows, and does not fail
            LOCK_ROW,
            DELETE + " RETURNING %3$s");

    static final RetentionSql MARIADB = of(
            "(UNIX_TIMESTAMP() * 1000000)", // finer ones pass through local time, which repeats itself once a year
            "CAST(UNIX_TIMESTAMP(%s) * 1000000 AS SIGNED)",
            INSERT + "VALUES (" + ROW + ") ON DUPLICATE KEY UPDATE consumer = consumer",
            " LOCK IN SHARE MODE",
            "SET STATEMENT innodb_lock_wait_timeout = 1 FOR " + LOCK_ROW,
            DELETE + " RETURNING %3$s");

    static final RetentionSql H2 = of(
            "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT)",
            "CAST(EXTRACT(EPOCH FROM %s) * 1000000 AS BIGINT)",
            INSERT + "SELECT " + ROW + " WHERE NOT EXISTS (SELECT 1 FROM ${retention} WHERE consumer = :consumer)",
            " FOR UPDATE",
            LOCK_ROW,
            "SELECT %3$s FROM OLD TABLE (" + DELETE + ")");

    private static RetentionSql of(
            String now, String micros, String insertRow, String lockedRead, String lockRow, String deleteKeys) {
        return new RetentionSql(now, micros, insertRow.formatted(now), lockedRead, lockRow, deleteKeys);
    }

    public static RetentionSql of(Database database) {
        return switch (database) {
            case POSTGRESQL -> POSTGRESQL;
            case MARIADB -> MARIADB;
            case H2 -> H2;
        };
    }

    public String micros(String column) {
        return micros.formatted(column);
    }
}
