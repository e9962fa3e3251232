package dev.idem.jdbc.internal.queue;

import dev.idem.Message;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Hashes;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StatementSize;
import dev.idem.jdbc.internal.sql.StoredText;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.spi.Envelope;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueStore;
import dev.idem.spi.StreamVersion;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Stores messages that are acknowledged on receipt, each at the end of its line. Stateless. */
final class QueueIntake {
    private static final int SMALL_COLUMNS = 1_024;

    private final Dialect dialect;
    private final OrderingKeys lines;
    private final RowsSql insert;
    private final StatementSize size;

    QueueIntake(Tables tables, OrderingKeys lines, StatementSize size) {
        this.lines = lines;
        this.size = size;
        dialect = tables.dialect();
        insert = new RowsSql(tables.fill(QueueSql.of(dialect.database()).insert()));
    }

    void insert(Connection connection, int consumer, QueueStore.Intake intake, List<Message> messages)
            throws SQLException {
        List<Arrival> arrivals = arrivals(connection, consumer, intake, messages);
        int from = 0;
        while (from < arrivals.size()) {
            List<Arrival> together = fitting(arrivals.subList(from, arrivals.size()));
            insert(connection, consumer, together);
            from += together.size();
        }
    }

    /** As many as fit into one statement, at least one. */
    private List<Arrival> fitting(List<Arrival> arrivals) {
        Arrival first = arrivals.get(0);
        size.check(first.key, first.head, first.payload);
        long bytes = 0;
        int to = 0;
        do {
            bytes += arrivals.get(to).size();
            to++;
        } while (to < arrivals.size() && bytes + arrivals.get(to).size() <= size.largestValue());
        return arrivals.subList(0, to);
    }

    private void insert(Connection connection, int consumer, List<Arrival> arrivals) throws SQLException {
        Map<String, NamedSql.Parameter> common = new HashMap<>();
        common.put("consumer", NamedSql.Parameter.of(consumer));
        common.put("keys", array("uuid", arrivals, a -> a.key.value()));
        common.put("readables", array("text", arrivals, a -> a.key.readable()));
        common.put("behind", array("boolean", arrivals, Arrival::behind));
        common.put("orders", array("uuid", arrivals, Arrival::order));
        common.put("orderings", array("text", arrivals, Arrival::orderingKey));
        common.put("types", array("text", arrivals, Arrival::type));
        common.put("heads", bytes(arrivals, Arrival::head));
        common.put("payloads", bytes(arrivals, Arrival::payload));
        common.put("streams", array("uuid", arrivals, Arrival::stream));
        common.put("versions", array("bigint", arrivals, Arrival::version));
        try (PreparedStatement statement = insert.prepare(connection, common, () -> rows(arrivals))) {
            if (statement.executeUpdate() != arrivals.size()) {
                throw new SQLException("Not all messages were stored: a trigger or a rule is in the way");
            }
        } catch (SQLException failure) {
            throw SqlFaults.isViolation(failure) ? SqlFaults.withoutRow(failure) : failure;
        }
    }

    /** A message waits if another one of its ordering key is in the queue, or before it in this list. */
    private List<Arrival> arrivals(
            Connection connection, int consumer, QueueStore.Intake intake, List<Message> messages) throws SQLException {
        List<Arrival> arrivals = new ArrayList<>(messages.size());
        Set<UUID> seen = intake.ordered() ? lines.join(connection, consumer, ordersOf(messages)) : new HashSet<>();
        for (Message message : messages) {
            String ordering = message.orderingKey().orElse(null);
            UUID order = intake.ordered() && ordering != null ? Hashes.uuid(ordering) : null;
            boolean behind = order != null && !seen.add(order);
            StreamVersion place = intake.places().of(message).orElse(null);
            arrivals.add(new Arrival(
                    intake.keys().of(message),
                    behind,
                    order,
                    StoredText.storableOrNull(ordering),
                    StoredText.storableOrNull(message.type().orElse(null)),
                    Envelope.of(message),
                    message.payload(),
                    place == null ? null : Hashes.uuid(place.stream()),
                    place == null ? null : place.version()));
        }
        return arrivals;
    }

    private static Set<UUID> ordersOf(List<Message> messages) {
        Set<UUID> orders = new HashSet<>();
        messages.forEach(message -> message.orderingKey().map(Hashes::uuid).ifPresent(orders::add));
        return orders;
    }

    private static NamedSql.Parameter array(
            String type, List<Arrival> arrivals, Function<Arrival, @Nullable Object> value) {
        return NamedSql.Parameter.array(type, arrivals.stream().map(value).toArray());
    }

    private static NamedSql.Parameter bytes(List<Arrival> arrivals, Function<Arrival, byte[]> value) {
        return NamedSql.Parameter.array("bytea", arrivals.stream().map(value).toArray(byte[][]::new));
    }

    private List<Map<String, NamedSql.Parameter>> rows(List<Arrival> arrivals) {
        List<Map<String, NamedSql.Parameter>> rows = new ArrayList<>(arrivals.size());
        for (Arrival arrival : arrivals) {
            Map<String, NamedSql.Parameter> row = new HashMap<>();
            row.put("key", hash(arrival.key.value()));
            row.put("readable", NamedSql.Parameter.of(arrival.key.readable()));
            row.put("behind", NamedSql.Parameter.of(arrival.behind ? 1 : 0));
            row.put("order", hash(arrival.order));
            row.put("ordering", NamedSql.Parameter.of(arrival.orderingKey));
            row.put("type", NamedSql.Parameter.of(arrival.type));
            row.put("stream", hash(arrival.stream));
            Long version = arrival.version;
            row.put("version", (s, i) -> s.setObject(i, version, Types.BIGINT));
            row.put("head", NamedSql.Parameter.of(arrival.head));
            row.put("payload", NamedSql.Parameter.of(arrival.payload));
            rows.add(row);
        }
        return rows;
    }

    private NamedSql.Parameter hash(@Nullable UUID value) {
        return value == null
                ? NamedSql.Parameter.of((byte[]) null)
                : dialect.key().apply(value);
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
            @Nullable Long version) {
        /** Its payload and headers; the rest is small. */
        int size() {
            return head.length + payload.length + SMALL_COLUMNS;
        }
    }
}
