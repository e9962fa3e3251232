package dev.idem.jdbc;

import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.ReplaySession;
import dev.idem.ReplaySource;
import dev.idem.ReplaySpec;
import dev.idem.spi.Envelope;
import dev.idem.spi.MarkerKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import javax.sql.DataSource;

/**
 * Reads completed messages that are kept. Those that were completed under the key of a session are copies of others, and
 * left out; their readable keys end with the session, behind a slash that no id can have unescaped. Those that a person had
 * erased are counted only.
 *
 * <p>What was completed before the session is told without a clock, which may go back. Asking for a session counts one more for
 * its consumer; a message is kept, as the last thing before its commit, with the count that is committed by then. Whoever
 * empties a table in the transaction that asks for the session waits for handlers that have written to it: their commits come
 * before the count. Whoever writes to it later reads the new count.
 */
final class StoredSource implements ReplaySource {
    static final String SCHEME = "stored";

    private static final String MEANT = " FROM ${archive} WHERE consumer = (SELECT number FROM ${consumer}"
            + " WHERE name = :consumer) AND sessions < (SELECT ordinal FROM ${replay} WHERE name = :session)"
            + " AND stored_at >= :from AND stored_at < :to"
            + " AND (readable IS NULL OR readable NOT LIKE '%" + MarkerKey.SESSION + "%')";

    private final DataSource dataSource;
    private final Tables tables;
    private final NamedSql page;
    private final NamedSql count;

    StoredSource(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
        page = new NamedSql(tables.fill("SELECT id, head, payload, message_key, readable" + MEANT
                + " AND id > :after ORDER BY id LIMIT :limit"));
        count = new NamedSql(tables.fill("SELECT count(*)" + MEANT));
    }

    @Override
    public String scheme() {
        return SCHEME;
    }

    @Override
    public Reading open(ReplaySession session, ReplaySpec spec) {
        spec.only(Set.of("from", "to"));
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(session.consumer()));
        values.put("session", NamedSql.Parameter.of(session.name()));
        values.put(
                "from", NamedSql.Parameter.of(spec.time("from").map(Micros::of).orElse(Long.MIN_VALUE)));
        values.put("to", NamedSql.Parameter.of(spec.time("to").map(Micros::of).orElse(Long.MAX_VALUE)));
        long after = session.cursor().map(Long::parseLong).orElse(Long.MIN_VALUE);
        return new Pages(values, session.consumer(), total(values), after);
    }

    private long total(Map<String, NamedSql.Parameter> values) {
        return read(count, values, row -> {
            row.next();
            return row.getLong(1);
        });
    }

    private <T> T read(NamedSql sql, Map<String, NamedSql.Parameter> values, RowReading<T> reading) {
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> {
                try (PreparedStatement statement = sql.prepare(connection, values);
                        ResultSet rows = statement.executeQuery()) {
                    return reading.of(rows);
                }
            });
        } catch (SQLException failure) {
            throw JdbcInbox.failed("read stored messages", tables, failure);
        }
    }

    @FunctionalInterface
    private interface RowReading<T> {
        T of(ResultSet rows) throws SQLException;
    }

    private final class Pages implements Reading {
        private final Map<String, NamedSql.Parameter> values;
        private final String consumer;
        private final long total;
        private long after;

        Pages(Map<String, NamedSql.Parameter> values, String consumer, long total, long after) {
            this.consumer = consumer;
            this.values = values;
            this.total = total;
            this.after = after;
        }

        @Override
        public Batch next(int most) {
            values.put("after", NamedSql.Parameter.of(after));
            values.put("limit", NamedSql.Parameter.of(most));
            return read(page, values, rows -> {
                List<Message> found = new ArrayList<>();
                int erased = 0;
                while (rows.next()) {
                    after = rows.getLong(1);
                    if (rows.getBytes(2).length == 0) {
                        erased++;
                    } else {
                        found.add(message(rows));
                    }
                }
                return new Batch(found, Long.toString(after), found.size() + erased < most, erased);
            });
        }

        /** Under the key that it has a marker of, as it may have been edited before it was done; or what it is known as. */
        private Message message(ResultSet row) throws SQLException {
            long id = row.getLong(1);
            MarkerKey key = new MarkerKey(consumer, tables.dialect().keyOf().read(row, 4), row.getString(5));
            try {
                Message message = Envelope.message(row.getBytes(2), row.getBytes(3));
                boolean known = message.markedAs()
                        .filter(as -> as.consumer().equals(consumer))
                        .isPresent();
                return known ? message : message.toBuilder().markedAs(key).build();
            } catch (IllegalArgumentException | NegativeArraySizeException strange) {
                throw new IdemException("The stored message " + id + " cannot be read", strange);
            }
        }

        @Override
        public OptionalLong total() {
            return OptionalLong.of(total);
        }

        @Override
        public void close() {
            // each page is read in a transaction of its own
        }
    }
}
