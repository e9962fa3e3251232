package dev.idem.jdbc;

import dev.idem.Message;
import dev.idem.QueueState;
import dev.idem.spi.Envelope;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StreamVersion;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The statements that store, take and complete messages, ready for one dialect and one set of tables. Stateless. */
final class Queue {
    /** How many workers' batches to look past. */
    private static final int PEEK = 8;

    private static final Set<String> NOT_A_NUMBER = Set.of("22P02", "22018");

    private final Dialect dialect;
    private final QueueSql sql;
    private final RowsSql insert;
    private final RowsSql blocked;
    private final RowsSql heads;
    private final NamedSql begin;
    private final NamedSql take;
    private final NamedSql takeHeads;
    private final RowsSql followers;
    private final RowsSql open;
    private final RowsSql openLeased;
    private final RowsSql complete;
    private final NamedSql committed;
    private final NamedSql ended;
    private final RowsSql release;

    Queue(Tables tables) {
        dialect = tables.dialect();
        sql = QueueSql.of(dialect.database());
        insert = new RowsSql(tables.fill(sql.insert()));
        blocked = new RowsSql(tables.fill(sql.blocked()));
        heads = new RowsSql(tables.fill(sql.heads()));
        begin = new NamedSql(tables.fill(sql.begin()));
        take = new NamedSql(tables.fill(sql.take()));
        takeHeads = new NamedSql(tables.fill(sql.takeHeads()));
        followers = new RowsSql(tables.fill(sql.followers()));
        open = new RowsSql(tables.fill(sql.open()));
        openLeased = new RowsSql(tables.fill(sql.openLeased()));
        complete = new RowsSql(tables.fill(sql.completeAndCommit()));
        committed = new NamedSql(tables.fill(sql.committed()));
        ended = new NamedSql(tables.fill(sql.ended()));
        release = new RowsSql(tables.fill("UPDATE " + sql.byId() + " SET status = 0, due_at = " + sql.now()
                + ", fence = fence + 1 WHERE status = 3 AND id IN ({:id})"));
    }

    void insert(Connection connection, int consumer, QueueStore.Intake intake, List<Message> messages)
            throws SQLException {
        List<Arrival> arrivals = arrivals(connection, consumer, intake, messages);
        Map<String, NamedSql.Parameter> common = new HashMap<>();
        common.put("consumer", NamedSql.Parameter.of(consumer));
        common.put(
                "keys", array("uuid", arrivals.stream().map(a -> a.key.value()).toArray()));
        common.put(
                "readables",
                array("text", arrivals.stream().map(a -> a.key.readable()).toArray()));
        common.put(
                "behind",
                array("boolean", arrivals.stream().map(Arrival::behind).toArray()));
        common.put("orders", array("uuid", arrivals.stream().map(Arrival::order).toArray()));
        common.put(
                "orderings",
                array("text", arrivals.stream().map(Arrival::orderingKey).toArray()));
        common.put("types", array("text", arrivals.stream().map(Arrival::type).toArray()));
        common.put("heads", array("bytea", arrivals.stream().map(Arrival::head).toArray(byte[][]::new)));
        common.put(
                "payloads",
                array("bytea", arrivals.stream().map(Arrival::payload).toArray(byte[][]::new)));
        common.put(
                "streams", array("uuid", arrivals.stream().map(Arrival::stream).toArray()));
        common.put(
                "versions",
                array("bigint", arrivals.stream().map(Arrival::version).toArray()));
        try (PreparedStatement statement = insert.prepare(connection, common, () -> rows(arrivals))) {
            if (statement.executeUpdate() != arrivals.size()) {
                throw new SQLException("Not all messages were stored: a trigger or a rule is in the way");
            }
        }
    }

    /** A message waits if another one of its ordering key is in the queue, or before it in this list. */
    private List<Arrival> arrivals(
            Connection connection, int consumer, QueueStore.Intake intake, List<Message> messages) throws SQLException {
        List<Arrival> arrivals = new ArrayList<>(messages.size());
        Set<UUID> seen = intake.ordered() ? blocked(connection, consumer, ordersOf(messages)) : new HashSet<>();
        for (Message message : messages) {
            String ordering = message.orderingKey().orElse(null);
            UUID order = intake.ordered() && ordering != null ? Hashes.uuid(ordering) : null;
            boolean behind = order != null && !seen.add(order);
            StreamVersion place = intake.places().of(message).orElse(null);
            arrivals.add(new Arrival(
                    intake.keys().of(message),
                    behind,
                    order,
                    storable(ordering),
                    storable(message.type().orElse(null)),
                    Envelope.of(message),
                    message.payload(),
                    place == null ? null : Hashes.uuid(place.stream()),
                    place == null ? null : place.version()));
        }
        return arrivals;
    }

    /** For people and filters; the exact text is in the head. */
    static @Nullable String storable(@Nullable String text) {
        return text == null ? null : text.replace('\0', '\uFFFD');
    }

    private static Set<UUID> ordersOf(List<Message> messages) {
        Set<UUID> orders = new HashSet<>();
        messages.forEach(message -> message.orderingKey().map(Hashes::uuid).ifPresent(orders::add));
        return orders;
    }

    private Set<UUID> blocked(Connection connection, int consumer, Set<UUID> orders) throws SQLException {
        Set<UUID> found = new HashSet<>();
        if (orders.isEmpty()) {
            return found;
        }
        try (PreparedStatement statement = blocked.prepare(connection, ordered(consumer, orders), () -> keys(orders));
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                found.add(dialect.keyOf().read(rows, 1));
            }
        }
        return found;
    }

    /** Lets go those of the ordering keys' first messages that are held; answers how many. */
    int release(Connection connection, int consumer, Collection<UUID> orders) throws SQLException {
        List<Long> held = new ArrayList<>();
        if (orders.isEmpty()) {
            return 0;
        }
        for (Collection<UUID> some : together(heads, orders)) {
            try (PreparedStatement statement = heads.prepare(connection, ordered(consumer, some), () -> keys(some));
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    held.add(rows.getLong(1));
                }
            }
        }
        return held.isEmpty() ? 0 : let(connection, held);
    }

    /** Lets go what is held; who has moved it meanwhile is passed over. */
    int let(Connection connection, List<Long> ids) throws SQLException {
        try (PreparedStatement statement = release.prepare(
                connection,
                Map.of(),
                () -> ids.stream()
                        .map(id -> Map.of("id", NamedSql.Parameter.of((long) id)))
                        .toList())) {
            return statement.executeUpdate();
        }
    }

    /** All at once, or one by one where the database cannot look for the first of many. */
    private static List<? extends Collection<UUID>> together(RowsSql sql, Collection<UUID> orders) {
        return sql.bindsArrays()
                ? List.of(orders)
                : orders.stream().map(List::of).toList();
    }

    private Map<String, NamedSql.Parameter> ordered(int consumer, Collection<UUID> orders) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("orders", array("uuid", orders.toArray()));
        return values;
    }

    private List<Map<String, NamedSql.Parameter>> keys(Collection<UUID> orders) {
        return orders.stream()
                .map(order -> Map.of("order", dialect.key().apply(order)))
                .toList();
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
        Map<String, NamedSql.Parameter> values = Map.of(
                "consumer", NamedSql.Parameter.of(consumer),
                "limit", NamedSql.Parameter.of(taking.limit()),
                "peek", NamedSql.Parameter.of(taking.limit() * (long) PEEK));
        List<QueueRow> taken = new ArrayList<>();
        try (PreparedStatement statement = (taking.ordered() ? takeHeads : take).prepare(connection, values);
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                taken.add(QueueRow.of(rows, taking.consumer(), dialect));
            }
        }
        return taken;
    }

    /**
     * Adds to each head what follows it without a gap and can run after it, in the order of receipt. A hot key is so worked
     * off in batches, too.
     */
    List<QueueRow> withFollowers(Connection connection, int consumer, QueueStore.Taking taking, List<QueueRow> heads)
            throws SQLException {
        Set<UUID> orders = new LinkedHashSet<>();
        heads.forEach(head -> {
            if (head.order() != null
                    && !head.message().isSuspect()
                    && head.message().unreadable() == null) {
                orders.add(head.order());
            }
        });
        int each = orders.isEmpty() ? 0 : (taking.limit() - heads.size()) / orders.size();
        if (each == 0) {
            return heads;
        }
        Map<UUID, List<QueueRow>> lines = new HashMap<>();
        for (Collection<UUID> some : together(followers, orders)) {
            Map<String, NamedSql.Parameter> values = ordered(consumer, some);
            values.put("each", NamedSql.Parameter.of(each + 1));
            try (PreparedStatement statement = followers.prepare(connection, values, () -> keys(some));
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    QueueRow row = QueueRow.of(rows, taking.consumer(), dialect);
                    lines.computeIfAbsent(Objects.requireNonNull(row.order()), k -> new ArrayList<>())
                            .add(row);
                }
            }
        }
        List<QueueRow> all = new ArrayList<>();
        for (QueueRow head : heads) {
            all.add(head);
            for (QueueRow row : lines.getOrDefault(head.order(), List.of())) {
                if (row.message().id() == head.message().id()) {
                    continue;
                }
                if (row.message().id() < head.message().id()
                        || row.state() != QueueState.HELD
                        || row.message().isSuspect()
                        || row.message().unreadable() != null) {
                    break;
                }
                all.add(row);
            }
        }
        return all;
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
                "ids", array("bigint", messages.stream().map(QueuedMessage::id).toArray()));
        values.put(
                "fences",
                array("bigint", messages.stream().map(QueuedMessage::fence).toArray()));
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

    private List<Map<String, NamedSql.Parameter>> rows(List<Arrival> arrivals) {
        List<Map<String, NamedSql.Parameter>> rows = new ArrayList<>(arrivals.size());
        for (Arrival arrival : arrivals) {
            Map<String, NamedSql.Parameter> row = new HashMap<>();
            row.put("key", dialect.key().apply(arrival.key.value()));
            row.put("readable", NamedSql.Parameter.of(arrival.key.readable()));
            row.put("behind", NamedSql.Parameter.of(arrival.behind ? 1 : 0));
            row.put(
                    "order",
                    arrival.order == null
                            ? NamedSql.Parameter.of((byte[]) null)
                            : dialect.key().apply(arrival.order));
            row.put("ordering", NamedSql.Parameter.of(arrival.orderingKey));
            row.put("type", NamedSql.Parameter.of(arrival.type));
            row.put(
                    "stream",
                    arrival.stream == null
                            ? NamedSql.Parameter.of((byte[]) null)
                            : dialect.key().apply(arrival.stream));
            Long version = arrival.version;
            row.put("version", (s, i) -> s.setObject(i, version, Types.BIGINT));
            row.put("head", NamedSql.Parameter.of(arrival.head));
            row.put("payload", NamedSql.Parameter.of(arrival.payload));
            rows.add(row);
        }
        return rows;
    }

    private static NamedSql.Parameter array(String type, Object[] values) {
        return (s, i) -> s.setArray(i, s.getConnection().createArrayOf(type, values));
    }

    @SuppressWarnings("ArrayRecordComponent") // compared by nobody
    private record Arrival(
            MarkerKey key,
            boolean behind,
            @Nullable UUID order,
            @Nullable String orderingKey,
            @Nullable String type,
            byte[] head,
            byte[] payload,
            @Nullable UUID stream,
            @Nullable Long version) {}
}
