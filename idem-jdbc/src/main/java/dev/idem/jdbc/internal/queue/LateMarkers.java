package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.marker.Horizons;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.QueuedMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * A message's marker is as old as its receipt, but what must not be repeated is its effect. So when a message is completed long
 * after it was stored, its marker becomes as young as the effect, in the same transaction: else the next sweep would remove it,
 * and a late repetition would be handled again. Messages that do not wait long cost nothing. Thread-safe.
 */
final class LateMarkers {
    private static final Duration LATE = Duration.ofHours(1);

    /** Of a short window at most such a part may be lost. */
    private static final int PART = 10;

    private final Dialect dialect;
    private final Horizons horizons;
    private final DatabaseClock clock;
    private final RowsSql move;

    LateMarkers(Tables tables, Horizons horizons) {
        this.horizons = horizons;
        clock = new DatabaseClock(tables);
        dialect = tables.dialect();
        String now = dialect.database() == Database.POSTGRESQL ? "clock_timestamp()" : "CURRENT_TIMESTAMP(6)";
        move = new RowsSql(tables.fill(
                "UPDATE ${marker} SET marked_at = " + now + " WHERE consumer = :consumer AND message_key IN ({:key})"));
    }

    void move(Connection connection, int consumer, Collection<QueuedMessage> completed) throws SQLException {
        if (completed.isEmpty()) {
            return;
        }
        Instant late = clock.now(connection).minus(late(consumer));
        List<QueuedMessage> these =
                completed.stream().filter(m -> m.storedAt().isBefore(late)).toList();
        if (these.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = move.prepare(
                connection,
                Map.of("consumer", NamedSql.Parameter.of(consumer)),
                () -> these.stream()
                        .map(m -> Map.of("key", dialect.key().apply(m.key().value())))
                        .toList())) {
            statement.executeUpdate();
        }
    }

    private Duration late(int consumer) {
        Duration part = Micros.duration(horizons.window(consumer) / PART);
        return part.compareTo(LATE) < 0 ? part : LATE;
    }
}
