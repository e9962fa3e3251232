package dev.idem.jdbc;

import dev.idem.StoreException;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * What workers say beside their transactions: what they are about to run, and that their leases go on. For this one
 * connection is held, so that neither has to wait for a pool that handlers have exhausted. Thread-safe.
 */
final class RunningWorkers {
    private static final int PATIENCE_SECONDS = 5;

    private final DataSource dataSource;
    private final NamedSql running;
    private final NamedSql gone;
    private final RowsSql renew;
    private final RowsSql refresh;
    /** By name: a worker that goes on under another number has given up the old one, and its note. */
    private final Map<String, Long> busy = new ConcurrentHashMap<>();

    private @Nullable Connection connection;

    RunningWorkers(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        QueueSql sql = QueueSql.of(tables.dialect().database());
        running = new NamedSql(tables.fill(sql.running()));
        refresh = new RowsSql(
                tables.fill("UPDATE ${worker} SET seen_at = " + sql.now() + " WHERE worker IN ({:worker})"));
        gone = new NamedSql(tables.fill("DELETE FROM ${worker} WHERE worker = :worker"));
        renew = new RowsSql(tables.fill("UPDATE " + sql.byId() + " SET due_at = " + sql.now()
                + " + :lease WHERE status = 1 AND ({OR (id = :id AND fence = :fence)})"));
    }

    void running(int consumer, QueueStore.Taking taking, List<QueuedMessage> messages) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("worker", NamedSql.Parameter.of(taking.worker()));
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("name", NamedSql.Parameter.of(taking.name()));
        values.put("running", NamedSql.Parameter.of(messages.isEmpty() ? null : packed(messages)));
        if (messages.isEmpty()) {
            busy.remove(taking.name());
        } else {
            busy.put(taking.name(), taking.worker());
        }
        say("note what is running of", taking.consumer(), c -> running.prepare(c, values));
    }

    /** Says that the workers of this process live, so that nobody takes what they are running for orphaned. */
    void refresh(String consumer) {
        List<Map<String, NamedSql.Parameter>> own = busy.values().stream()
                .map(worker -> Map.of("worker", NamedSql.Parameter.of((long) worker)))
                .toList();
        if (!own.isEmpty()) {
            say("refresh the notes of", consumer, c -> refresh.prepare(c, Map.of(), () -> own));
        }
    }

    private static byte[] packed(List<QueuedMessage> messages) {
        ByteBuffer bytes = ByteBuffer.allocate(messages.size() * 2 * Long.BYTES);
        messages.forEach(message -> bytes.putLong(message.id()).putLong(message.fence()));
        return bytes.array();
    }

    void gone(QueueStore.Taking taking) {
        busy.remove(taking.name());
        say(
                "take leave of",
                taking.consumer(),
                c -> gone.prepare(c, Map.of("worker", NamedSql.Parameter.of(taking.worker()))));
    }

    int renew(List<QueuedMessage> leased, Duration lease) {
        return say(
                "renew leases of",
                leased.get(0).key().consumer(),
                c -> renew.prepare(
                        c, Map.of("lease", NamedSql.Parameter.of(Micros.of(lease))), () -> Queue.rowsOf(leased)));
    }

    /** Once more on a new connection if the old one does not work any more. */
    private synchronized int say(String what, String consumer, Saying saying) {
        try {
            try {
                return execute(saying);
            } catch (SQLException broken) {
                close();
                return execute(saying);
            }
        } catch (SQLException failure) {
            close();
            throw new StoreException(
                    "Could not " + what + " " + consumer + " (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure),
                    failure);
        }
    }

    /** Called before work begins, because later the pool may have nothing left. */
    synchronized void ready() throws SQLException {
        open();
    }

    private Connection open() throws SQLException {
        Connection open = connection;
        if (open == null) {
            open = dataSource.getConnection();
            connection = open;
        }
        return open;
    }

    private int execute(Saying saying) throws SQLException {
        Connection open = open();
        try (PreparedStatement statement = saying.prepare(open)) {
            statement.setQueryTimeout(PATIENCE_SECONDS); // all of this process wait for it
            int rows = statement.executeUpdate();
            if (!open.getAutoCommit()) {
                open.commit();
            }
            return rows;
        }
    }

    synchronized void close() {
        Connection open = connection;
        connection = null;
        if (open != null) {
            try {
                open.close();
            } catch (SQLException gone) {
                // it was broken anyway
            }
        }
    }

    @FunctionalInterface
    private interface Saying {
        PreparedStatement prepare(Connection connection) throws SQLException;
    }
}
