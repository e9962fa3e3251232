package dev.idem.jdbc;

import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Sequence;
import dev.idem.spi.FaultHook;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A database with a row for each stream that says which version was applied last. A handler moves that row from the version
 * before its own, and from no other: whatever is applied twice or out of order fails for good, and is seen.
 */
final class SequenceBench implements AutoCloseable {
    static final Sequence FROM_ONE =
            Sequence.by(Message::orderingKey, Sequence.header("version")).startingAt(Sequence.Start.at(1));
    static final QueuePolicy TAKEN = QueuePolicy.inTransaction()
            .withWorkers(2)
            .withBatch(7)
            .withPoll(Duration.ofMillis(50))
            .withRetry(RetryPolicy.fixed(Duration.ofMillis(20)).withMaxAttempts(3));
    static final QueuePolicy LEASED = QueuePolicy.leased(Duration.ofSeconds(20))
            .withWorkers(2)
            .withBatch(3)
            .withPoll(Duration.ofMillis(50))
            .withRetry(RetryPolicy.fixed(Duration.ofMillis(20)).withMaxAttempts(3));

    final Db db;
    final Inbox inbox;

    /** Ids of messages whose handlers fail, for now. */
    final Set<String> failing = ConcurrentHashMap.newKeySet();

    SequenceBench(Database database) {
        this(database, FaultHook.NONE, new InboxListener() {});
    }

    SequenceBench(Database database, FaultHook steps, InboxListener listener) {
        db = Db.fresh(database);
        db.execute("CREATE TABLE chain (stream VARCHAR(100) NOT NULL PRIMARY KEY, version BIGINT NOT NULL)");
        inbox = inbox(steps, listener);
    }

    /** Another instance on the same database. */
    Inbox inbox(FaultHook steps, InboxListener listener) {
        return Inbox.builder(db.store(db.pool(8)))
                .steps(steps)
                .listener(listener)
                .drain(Duration.ofSeconds(5))
                .build();
    }

    void streams(String... names) {
        for (String name : names) {
            db.execute("INSERT INTO chain (stream, version) VALUES ('" + name + "', 0)");
        }
    }

    Consumer inline(Sequence sequence) {
        return Consumer.named("chain").sequence(sequence).otherwise(handler()).build();
    }

    Consumer queued(QueuePolicy policy, Sequence sequence) {
        return Consumer.named("chain")
                .queued(policy)
                .sequence(sequence)
                .otherwise(handler())
                .build();
    }

    private Handler<Message, Void> handler() {
        return (message, tx) -> {
            if (failing.contains(message.id().orElseThrow())) {
                throw new IllegalStateException("not today");
            }
            apply(tx.connection(), message.orderingKey().orElseThrow(), version(message));
            return null;
        };
    }

    static long version(Message message) {
        return Long.parseLong(message.header("version").orElseThrow());
    }

    private static void apply(Connection connection, String stream, long version) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "UPDATE chain SET version = ? WHERE stream = ? AND (version = ? OR ? = 0)")) {
            statement.setLong(1, version);
            statement.setString(2, stream);
            statement.setLong(3, version - 1);
            statement.setInt(4, stream.startsWith("jump") ? 0 : 1);
            if (statement.executeUpdate() != 1) {
                throw new TerminalException("version " + version + " of " + stream + " is out of order", null);
            }
        }
    }

    /** The same stream and version as any other message of them, under an id of its own. */
    static Message message(String stream, long version, String suffix) {
        return Message.builder()
                .id(stream + "-" + version + suffix)
                .orderingKey(stream)
                .header("version", Long.toString(version).getBytes(StandardCharsets.UTF_8))
                .payload(new byte[] {1})
                .build();
    }

    static Message message(String stream, long version) {
        return message(stream, version, "");
    }

    static List<Message> messages(String stream, long... versions) {
        return java.util.Arrays.stream(versions)
                .mapToObj(version -> message(stream, version))
                .toList();
    }

    long applied(String stream) {
        return db.number("SELECT version FROM chain WHERE stream = '" + stream + "'");
    }

    long rows(String where) {
        return db.number("SELECT count(*) FROM idem_queue WHERE " + where);
    }

    void awaitRows(String where, long count) {
        try {
            await().atMost(Duration.ofSeconds(30)).until(() -> rows(where) == count);
        } catch (ConditionTimeoutException late) {
            throw new AssertionError(
                    count + " rows were expected where " + where + "; these are in the queue: " + left(), late);
        }
    }

    /** What is in the queue, as far as it tells why it is still there. */
    private List<String> left() {
        String now = QueueSql.of(db.kind()).now();
        List<String> rows = new ArrayList<>();
        try (Connection connection = db.plain().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("SELECT q.id, q.readable, q.version, s.current_version, q.status,"
                                + " q.reason, q.due_at, q.due_at - " + now + ", " + now
                                + " - q.stored_at, q.started, q.failed,"
                                + " q.fence FROM idem_queue q LEFT JOIN idem_sequence s ON s.consumer = q.consumer"
                                + " AND s.stream_key = q.stream_key ORDER BY q.id LIMIT 30")) {
            while (row.next()) {
                rows.add(row.getLong(1) + " " + row.getString(2) + ": version " + row.getString(3) + " of a stream at "
                        + row.getString(4) + ", status " + row.getInt(5) + ", reason " + row.getString(6) + ", due at "
                        + row.getString(7) + " (in " + row.getString(8) + " us), stored " + row.getString(9)
                        + " us ago, started " + row.getInt(10) + ", failed " + row.getInt(11) + ", fence "
                        + row.getLong(12));
            }
        } catch (SQLException failure) {
            rows.add(failure.toString());
        }
        return rows;
    }

    void awaitApplied(String stream, long version) {
        await().atMost(Duration.ofSeconds(30)).until(() -> applied(stream) == version);
    }

    @Override
    public void close() {
        inbox.close();
        db.close();
    }
}
