package dev.idem.jdbc.internal.queue;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Held messages whose turn has come while somebody had their rows locked, see {@link StreamQueue}. They are released at the next
 * look of a worker of this process. What is forgotten here, {@link StreamRecovery} finds. Thread-safe.
 */
final class PassedOver {
    private static final int REMEMBERED = 10_000;

    private final StreamQueue streams;
    private final ConcurrentMap<Integer, Set<Long>> waiting = new ConcurrentHashMap<>();

    PassedOver(StreamQueue streams) {
        this.streams = streams;
    }

    /** After the commit that has moved their streams. */
    void add(int consumer, List<Long> ids) {
        if (!ids.isEmpty()) {
            waiting.compute(consumer, (c, known) -> {
                Set<Long> all = known == null ? new HashSet<>() : new HashSet<>(known);
                ids.stream().limit(Math.max(0, REMEMBERED - all.size())).forEach(all::add);
                return all;
            });
        }
    }

    List<Long> of(int consumer) {
        return List.copyOf(waiting.getOrDefault(consumer, Set.of()));
    }

    /** Releases those that nobody has now; answers those that are still held. */
    List<Long> letGo(Connection connection, List<Long> ids) throws SQLException {
        streams.letGo(connection, ids);
        return streams.held(connection, ids);
    }

    /** After the commit of that. */
    void keep(int consumer, List<Long> asked, List<Long> stillHeld) {
        Set<Long> over = new HashSet<>(asked);
        stillHeld.forEach(over::remove);
        waiting.computeIfPresent(consumer, (c, known) -> {
            Set<Long> rest = new HashSet<>(known);
            rest.removeAll(over);
            return rest.isEmpty() ? null : rest;
        });
    }
}
