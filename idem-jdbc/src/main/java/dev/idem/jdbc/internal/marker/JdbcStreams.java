package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.spi.Streams;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Supplier;

/** The streams of one transaction. What a batch moves is written with its commit, what a unit moves at once. */
public final class JdbcStreams implements Streams {
    private final StreamRows rows;
    private final SqlFaults faults;
    private final Supplier<Connection> connection;
    private final int consumer;
    private final boolean batched;
    private final Map<String, Long> moved = new TreeMap<>();

    JdbcStreams(StreamRows rows, SqlFaults faults, Supplier<Connection> connection, int consumer, boolean batched) {
        this.rows = rows;
        this.faults = faults;
        this.connection = connection;
        this.consumer = consumer;
        this.batched = batched;
    }

    @Override
    public Map<String, OptionalLong> lock(Collection<String> streams, Duration wait) {
        try {
            return rows.lock(connection.get(), faults, consumer, streams, wait);
        } catch (SQLException failure) {
            if (!wait.isZero() && faults.isBusy(failure)) {
                return Map.of();
            }
            throw faults.explained("lock", "streams of consumer number " + consumer, failure);
        }
    }

    @Override
    public Map<String, Long> lowestStored(Collection<String> streams) {
        try {
            return rows.lowestStored(connection.get(), consumer, streams);
        } catch (SQLException failure) {
            throw faults.explained("look at", "streams of consumer number " + consumer, failure);
        }
    }

    @Override
    public void move(Map<String, Long> applied) {
        moved.putAll(applied);
        if (!batched) {
            try {
                write(connection.get());
            } catch (SQLException failure) {
                throw faults.explained("move", "streams of consumer number " + consumer, failure);
            }
        }
    }

    void write(Connection target) throws SQLException {
        rows.move(target, consumer, moved);
    }

    /** Where streams are after the commit. */
    public Map<String, Long> moved() {
        return moved;
    }
}
