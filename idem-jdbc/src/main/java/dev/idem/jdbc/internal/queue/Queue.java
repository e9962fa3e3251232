package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueRow;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The statements that take and complete messages, ready for one dialect and one set of tables. Stateless. */
final class Queue {
    /** How many workers' batches to look past at first, and how much further when others have all of that. */
    private static final int PEEK = 8;

    private static final long FURTHEST = 1 << 20;

    private static final Set<String> NOT_A_NUMBER = Set.of("22P02", "22018");

    /** What such an error quotes if it is ours: a deferred trigger may raise the same one at the same commit. */
    private static final Pattern LOST = Pattern.compile("lost but \\d");

    private final Dialect dialect;
    private final LargeMessages large;
    private final QueueSql sql;
    private final NamedSql begin;
    private final NamedSql take;
    private final NamedSql takeHeads;
    private final NamedSql peeked;
    private final RowsSql open;
    private final RowsSql openLeased;
    private final RowsSql complete;
    private final NamedSql committed;
    private final NamedSql ended;

    Queue(Tables tables, LargeMessages large) {
        this.large = large;
        dialect = tables.dialect();
        sql = QueueSql.of(dialect.database());
        begin = new NamedSql(tables.fill(sql.begin()));
        take = new NamedSql(tables.fill(sql.take()));
        takeHeads = new NamedSql(tables.fill(sql.takeHeads()));
        peeked = new NamedSql(tables.fill(sql.peeked()));
        open = new RowsSql(tables.fill(sql.open()));
        openLeased = new RowsSql(tables.fill(sql.openLeased()));
        complete = new RowsSql(tables.fill(sql.completeAndCommit()));
        committed = new NamedSql(tables.fill(sql.committed()));
        ended = new NamedSql(tables.fill(sql.ended()));
    }

    /** Comes before the first statement of a transaction that takes messages. */
    void isolate(Connection connection) throws SQLException {
        if (!sql.isolation().isEmpty()) {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql.isolation());
            }
        }
    }

    /** The first statement of a transaction that handles stored messages. */
    void begin(Connection connection, long claimId) throws SQLException {
        isolate(connection);
        if (!sql.begin().isEmpty()) {
            try (PreparedStatement statement =
                    begin.prepare(connection, Map.of("claimid", NamedSql.Parameter.of(claimId)))) {
                statement.execute();
            }
        }
    }

    /** Locks what is due. Of an ordered consumer only the first of each ordering key. */
    List<QueueRow> take(Connection connection, int consumer, QueueStore.Taking taking) throws SQLException {
        long peek = taking.limit() * (long) PEEK;
        List<QueueRow> taken = take(connection, consumer, taking, peek);
        while (taken.isEmpty() && peek < FURTHEST && isAllPeeked(connection, consumer, peek)) {
            peek *= PEEK;
            taken = take(connection, consumer, taking, peek);
        }
        return taken;
    }

    /** Whether there is more to look at than that; never where the database looks as far as it must. */
    private boolean isAllPeeked(Connection connection, int consumer, long peek) throws SQLException {
        if (sql.peeked().isEmpty()) {
            return false;
        }
        Map<String, NamedSql.Parameter> values = Map.of(
                "consumer", NamedSql.Parameter.of(consumer),
                "peek", NamedSql.Parameter.of(peek));
        try (PreparedStatement statement = peeked.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next() && row.getLong(1) >= peek;
        }
    }

    private List<QueueRow> take(Connection connection, int consumer, QueueStore.Taking taking, long peek)
            throws SQLException {
        Map<String, NamedSql.Parameter> values = Map.of(
                "consumer", NamedSql.Parameter.of(consumer),
                "limit", NamedSql.Parameter.of(taking.limit()),
                "inline", NamedSql.Parameter.of(large.inline(taking)),
                "peek", NamedSql.Parameter.of(peek));
        List<QueueRow> taken = new ArrayList<>();
        try (PreparedStatement statement = (taking.ordered() ? takeHeads : take).prepare(connection, values);
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                taken.add(QueueRow.of(rows, taking.consumer(), dialect));
            }
        }
        return taken;
    }

    /** Those that nobody has moved since they were read, each with the transaction's name. */
    Map<Long, String> open(Connection connection, List<QueuedMessage> messages, boolean leased) throws SQLException {
        Map<Long, String> found = new HashMap<>();
        try (PreparedStatement statement =
                        (leased ? openLeased : open).prepare(connection, given(messages), () -> rowsOf(messages));
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                String token = rows.getString(2);
                found.put(rows.getLong(1), token == null ? "" : token);
            }
        }
        return found;
    }

    /** Fails when this is not the transaction any more that took them, or some of them are not there any more. */
    void completeAndCommit(Connection connection, List<QueuedMessage> messages, @Nullable String token, long claimId)
            throws SQLException {
        Map<String, NamedSql.Parameter> values = given(messages);
        values.put("token", NamedSql.Parameter.of(token));
        values.put("claimid", NamedSql.Parameter.of(claimId));
        values.put("count", NamedSql.Parameter.of((long) messages.size()));
        try (PreparedStatement statement = complete.prepare(connection, values, () -> rowsOf(messages))) {
            statement.execute();
        } catch (SQLException failure) {
            // The text says how many were there: the server could not take it for a number.
            throw NOT_A_NUMBER.contains(String.valueOf(failure.getSQLState()))
                            && LOST.matcher(String.valueOf(failure.getMessage()))
                                    .find()
                    ? new SQLException("Some of the messages belong to another worker now", "40001", failure)
                    : failure;
        }
    }

    boolean isCommitted(Connection connection, @Nullable String token, long claimId) throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("token", NamedSql.Parameter.of(token));
        values.put("claimid", NamedSql.Parameter.of(claimId));
        try (PreparedStatement statement = committed.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next();
        }
    }

    void ended(Connection connection, long claimId) throws SQLException {
        if (!sql.ended().isEmpty()) {
            try (PreparedStatement statement =
                    ended.prepare(connection, Map.of("claimid", NamedSql.Parameter.of(claimId)))) {
                statement.execute();
            }
        }
    }

    private static Map<String, NamedSql.Parameter> given(List<QueuedMessage> messages) {
        Map<String, NamedSql.Parameter> values = new LinkedHashMap<>();
        values.put(
                "ids",
                NamedSql.Parameter.array(
                        "bigint", messages.stream().map(QueuedMessage::id).toArray()));
        values.put(
                "fences",
                NamedSql.Parameter.array(
                        "bigint", messages.stream().map(QueuedMessage::fence).toArray()));
        return values;
    }

    static List<Map<String, NamedSql.Parameter>> rowsOf(List<QueuedMessage> messages) {
        if (messages.isEmpty()) { // a list must not be empty, and no message has this number
            return List.of(Map.of("id", NamedSql.Parameter.of(-1L), "fence", NamedSql.Parameter.of(-1L)));
        }
        return messages.stream()
                .map(message -> Map.of(
                        "id", NamedSql.Parameter.of(message.id()), "fence", NamedSql.Parameter.of(message.fence())))
                .toList();
    }
}
