package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What workers say beside their transactions: what they are about to run, and that their leases go on. For this one
 * connection is held, so that neither has to wait for a pool that handlers have exhausted. Thread-safe.
 */
final class RunningWorkers {
    private final NoteConnection connection;
    private final NamedSql running;
    private final NamedSql gone;
    private final String isolation;
    private final RowsSql leased;
    private final RowsSql renew;
    private final RowsSql refresh;
    /** By name: a worker that goes on under another number has given up the old one, and its note. */
    private final Map<String, Long> busy = new ConcurrentHashMap<>();

    RunningWorkers(NoteConnection connection, Tables tables) {
        this.connection = connection;
        QueueSql sql = QueueSql.of(tables.dialect().database());
        running = new NamedSql(tables.fill(sql.running()));
        refresh = new RowsSql(
                tables.fill("UPDATE ${worker} SET seen_at = " + sql.now() + " WHERE worker IN ({:worker})"));
        gone = new NamedSql(tables.fill("DELETE FROM ${worker} WHERE worker = :worker"));
        isolation = sql.isolation();
        // One that somebody has locked must neither delay the others nor be waited for: it is renewed next time.
        leased = new RowsSql(tables.fill("SELECT q.id FROM " + sql.byId()
                + " WHERE q.status = 1 AND ({OR (q.id = :id AND q.fence = :fence)}) FOR UPDATE SKIP LOCKED"));
        renew = new RowsSql(
                tables.fill("UPDATE " + sql.byId() + " SET due_at = " + sql.now() + " + :lease WHERE id IN ({:id})"));
    }

    void running(int consumer, QueueStore.Taking taking, List<QueuedMessage> messages) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("worker", NamedSql.Parameter.of(taking.worker()));
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("name", NamedSql.Parameter.of(taking.name()));
        values.put("running", NamedSql.Parameter.of(messages.isEmpty() ? null : packed(messages)));
        NoteConnection.Saying note = c -> NoteConnection.executed(running.prepare(c, values));
        if (messages.isEmpty()) {
            busy.remove(taking.name());
            connection.say("note what is running of", taking.consumer(), note);
        } else {
            busy.put(taking.name(), taking.worker());
            connection.sayHolding(taking.consumer(), note);
        }
    }

    /** Says that the workers of this process live, so that nobody takes what they are running for orphaned. */
    void refresh(String consumer) {
        List<Map<String, NamedSql.Parameter>> own = busy.values().stream()
                .map(worker -> Map.of("worker", NamedSql.Parameter.of((long) worker)))
                .toList();
        if (!own.isEmpty()) {
            connection.say(
                    "refresh the notes of",
                    consumer,
                    c -> NoteConnection.executed(refresh.prepare(c, Map.of(), () -> own)));
        }
    }

    private static byte[] packed(List<QueuedMessage> messages) {
        ByteBuffer bytes = ByteBuffer.allocate(messages.size() * 2 * Long.BYTES);
        messages.forEach(message -> bytes.putLong(message.id()).putLong(message.fence()));
        return bytes.array();
    }

    void gone(QueueStore.Taking taking) {
        busy.remove(taking.name());
        connection.say(
                "take leave of",
                taking.consumer(),
                c -> NoteConnection.executed(
                        gone.prepare(c, Map.of("worker", NamedSql.Parameter.of(taking.worker())))));
    }

    /** Answers how many were renewed: those that are held, but for what somebody has locked this moment. */
    int renew(List<QueuedMessage> messages, Duration lease) {
        return connection.say(
                "renew leases of",
                messages.get(0).key().consumer(),
                c -> Transactions.alone(c, () -> {
                    List<Map<String, NamedSql.Parameter>> free = free(c, messages);
                    if (free.isEmpty()) {
                        return 0;
                    }
                    Map<String, NamedSql.Parameter> values = Map.of("lease", NamedSql.Parameter.of(Micros.of(lease)));
                    return NoteConnection.executed(renew.prepare(c, values, () -> free));
                }));
    }

    private List<Map<String, NamedSql.Parameter>> free(Connection connection, List<QueuedMessage> messages)
            throws SQLException {
        if (!isolation.isEmpty()) {
            NoteConnection.executed(connection.prepareStatement(isolation));
        }
        List<Map<String, NamedSql.Parameter>> free = new ArrayList<>();
        try (PreparedStatement statement = leased.prepare(connection, Map.of(), () -> Queue.rowsOf(messages))) {
            statement.setQueryTimeout(NoteConnection.PATIENCE_SECONDS);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    free.add(Map.of("id", NamedSql.Parameter.of(row.getLong(1))));
                }
            }
        }
        return free;
    }
}
