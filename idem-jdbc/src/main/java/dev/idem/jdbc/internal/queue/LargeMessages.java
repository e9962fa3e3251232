package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueRow;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.spi.QueueStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds what a worker holds in memory by bytes, and not only by rows: a backlog of large messages must not fail every look
 * at it. All workers of a store share an eighth of the heap. Small messages come with their rows. Of large ones only the size comes, and the messages are read one by one, as many
 * as fit together, but always one. Thread-safe.
 */
public final class LargeMessages {
    private static final long MOST_TOGETHER = 16L << 20;
    private static final long MOST_INLINE = 64L << 10;
    private static final long LEAST_TOGETHER = 256L << 10;
    private static final long PART_OF_HEAP = 8;

    private final AtomicLong workers = new AtomicLong();

    private final NamedSql read;

    public LargeMessages(Tables tables) {
        read = new NamedSql(tables.fill("SELECT head, payload FROM ${queue} WHERE id = :id"));
    }

    /** So many more workers take messages. */
    void sharedBy(int more) {
        workers.addAndGet(more);
    }

    private long mostTogether() {
        long share = Runtime.getRuntime().maxMemory() / PART_OF_HEAP / Math.max(1, workers.get());
        return Math.max(LEAST_TOGETHER, Math.min(MOST_TOGETHER, share));
    }

    /** How large a message may be to be read with its row, so that a whole batch of them is not too much. */
    long inline(QueueStore.Taking taking) {
        return Math.min(MOST_INLINE, mostTogether() / Math.max(1, taking.limit()));
    }

    /** The first of them, as many as may be in memory together; nothing behind one that does not fit, for it would overtake. */
    List<QueueRow> fitting(List<QueueRow> rows) {
        long most = mostTogether();
        long sum = 0;
        for (int i = 0; i < rows.size(); i++) {
            sum += rows.get(i).size();
            if (i > 0 && sum > most) {
                return rows.subList(0, i);
            }
        }
        return rows;
    }

    /** Reads those that were left out; up to one that is not there any more. */
    List<QueueRow> read(Connection connection, List<QueueRow> rows) throws SQLException {
        if (rows.stream().noneMatch(QueueRow::left)) {
            return rows;
        }
        List<QueueRow> whole = new ArrayList<>(rows.size());
        for (QueueRow row : rows) {
            QueueRow one = row.left() ? read(connection, row) : row;
            if (one.left()) {
                break;
            }
            whole.add(one);
        }
        return whole;
    }

    private QueueRow read(Connection connection, QueueRow row) throws SQLException {
        Map<String, NamedSql.Parameter> values =
                Map.of("id", NamedSql.Parameter.of(row.message().id()));
        try (PreparedStatement statement = read.prepare(connection, values);
                ResultSet found = statement.executeQuery()) {
            return found.next() ? row.with(found.getBytes(1), found.getBytes(2)) : row;
        }
    }
}
