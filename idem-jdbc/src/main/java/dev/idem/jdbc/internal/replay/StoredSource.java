package dev.idem.jdbc.internal.replay;

import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
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
import org.jspecify.annotations.Nullable;

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
public final class StoredSource implements ReplaySource {
    public static final String SCHEME = "stored";

    private static final String MEANT = " FROM ${archive} WHERE consumer = (SELECT number FROM ${consumer}"
            + " WHERE name = :consumer) AND sessions < (SELECT ordinal FROM ${replay} WHERE name = :session)"
            + " AND stored_at >= :from AND stored_at < :to"
            + " AND (readable IS NULL OR readable NOT LIKE '%" + MarkerKey.SESSION + "%')";

    private final DataSource dataSource;
    private final Tables tables;
    /** So much of large messages is read at once, and one message at least. */
    private static final long MOST_TOGETHER = 4L << 20;

    private static final long INLINE = 32L << 10;
    private static final String SIZE = "(OCTET_LENGTH(head) + OCTET_LENGTH(payload))";

    private final NamedSql page;
    private final NamedSql large;
    private final NamedSql count;

    public StoredSource(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
        String inline = "CASE WHEN " + SIZE + " <= " + INLINE + " THEN %s END";
        page = new NamedSql(tables.fill("SELECT id, " + inline.formatted("head") + ", " + inline.formatted("payload")
                + ", message_key, readable, " + SIZE + MEANT + " AND id > :after ORDER BY id LIMIT :limit"));
        large = new NamedSql(tables.fill("SELECT head, payload FROM ${archive} WHERE id = :id"));
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
            throw SqlFaults.failed("read stored messages", tables, failure);
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

        /** As many as that, or as many as may be in memory together; of large ones that may be one alone. */
        @Override
        public Batch next(int most) {
            values.put("after", NamedSql.Parameter.of(after));
            values.put("limit", NamedSql.Parameter.of(most));
            List<Kept> rows = read(page, values, row -> {
                List<Kept> kept = new ArrayList<>();
                while (row.next()) {
                    kept.add(new Kept(
                            row.getLong(1),
                            new MarkerKey(consumer, tables.dialect().keyOf().read(row, 4), row.getString(5)),
                            row.getLong(6),
                            row.getBytes(2),
                            row.getBytes(3)));
                }
                return kept;
            });
            List<Message> found = new ArrayList<>();
            int erased = 0;
            int taken = 0;
            long bytes = 0;
            while (taken < rows.size() && (taken == 0 || bytes + rows.get(taken).size <= MOST_TOGETHER)) {
                Kept row = whole(rows.get(taken));
                taken++;
                bytes += row.size;
                after = row.id;
                if (row.head != null && row.payload != null && row.head.length > 0) {
                    found.add(message(row.id, row.key, row.head, row.payload));
                } else if (row.head != null) {
                    erased++;
                }
            }
            return new Batch(found, Long.toString(after), taken == rows.size() && taken < most, erased);
        }

        /** With what was left out of the page; if it is still there. */
        private Kept whole(Kept row) {
            return row.head != null
                    ? row
                    : read(
                            large,
                            Map.of("id", NamedSql.Parameter.of(row.id)),
                            one -> one.next() ? row.with(one.getBytes(1), one.getBytes(2)) : row);
        }

        /** Under the key that it has a marker of, as it may have been edited before it was done; or what it is known as. */
        private Message message(long id, MarkerKey key, byte[] head, byte[] payload) {
            try {
                Message message = Envelope.message(head, payload);
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

    /** A message that is kept, or its size alone. */
    @SuppressWarnings("ArrayRecordComponent") // compared by nobody
    private record Kept(long id, MarkerKey key, long size, byte @Nullable [] head, byte @Nullable [] payload) {
        Kept with(byte[] first, byte[] second) {
            return new Kept(id, key, size, first, second);
        }
    }
}
