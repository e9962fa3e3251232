package dev.idem.jdbc.internal.sql;

import dev.idem.jdbc.schema.Database;

/**
 * What differs between databases in locking streams. What stands in braces is repeated for each row, see {@link RowsSql}.
 *
 * @param insert makes the rows that are not there, and passes over those that are; or fails with a code of
 *     {@link Dialect#takenCodes}
 * @param insertLimited the same, but waits no longer than {@code :wait} for whoever makes the same rows
 * @param lock locks one row, and waits no longer than {@code :wait}; answers its key, its name and its version
 */
public record StreamSql(String insert, String insertLimited, String lock) {
    public static final String COLUMNS = "stream_key, stream, current_version";

    private static final String INSERT = "INSERT INTO ${sequence} (consumer, stream_key, stream, moved_at)"
            + " VALUES {(:consumer, :stream, :name, %s)} %s";

    private static final String LOCK = "SELECT " + COLUMNS + " FROM ${sequence} WHERE consumer = :consumer"
            + " AND stream_key = :stream FOR UPDATE";

    public static StreamSql of(Database database) {
        String now = QueueSql.of(database).now();
        return switch (database) {
            case POSTGRESQL -> {
                String insert = INSERT.formatted(now, "ON CONFLICT (consumer, stream_key) DO NOTHING");
                yield new StreamSql(insert, PostgreSql.limited(insert), PostgreSql.limited(LOCK));
            }
            case MARIADB -> {
                String insert = INSERT.formatted(now, "ON DUPLICATE KEY UPDATE consumer = ${sequence}.consumer");
                String limit = "SET STATEMENT innodb_lock_wait_timeout = :wait FOR ";
                yield new StreamSql(insert, limit + insert, limit + LOCK);
            }
            case H2 -> {
                String insert = INSERT.formatted(now, "");
                yield new StreamSql(insert, insert, LOCK);
            }
        };
    }
}
