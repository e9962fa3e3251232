package dev.idem.jdbc.internal.marker;

import dev.idem.BrokenTransactionException;
import dev.idem.jdbc.internal.guard.Guard;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StatementSize;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.Streams;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What the two kinds of units share: a claimed marker, and a guard that can be taken away from the handler. */
abstract class GuardedUnit implements UnitOfWork {
    static final Duration STRAY_CALL_LIMIT = Duration.ofSeconds(5);

    private final Deferred<GuardedUnit> deferred = new Deferred<>();

    final MarkerKey key;
    final SqlFaults faults;
    final Guard guard;
    private final StatementSize size;

    GuardedUnit(MarkerKey key, BatchKit kit, Guard guard) {
        this.key = key;
        this.faults = kit.faults();
        this.size = kit.size();
        this.guard = guard;
    }

    @Override
    public final Connection connection() {
        return guard.connection();
    }

    @Override
    public final DataSource dataSource() {
        return guard.dataSource();
    }

    @Override
    public void defer(String sql, @Nullable Object... args) {
        checkDeferred(sql, args);
        deferred.add(this, List.of(this), sql, args);
    }

    @Override
    public void deferInOrder(String line, String sql, @Nullable Object... args) {
        checkDeferred(sql, args);
        deferred.addLast(this, line, sql, args);
    }

    final void checkDeferred(String sql, @Nullable Object[] args) {
        size.check(key, args);
        try {
            if (guard.isRevoked()) {
                throw Guard.revokedError();
            }
            guard.checkUsable();
            guard.check(sql);
        } catch (SQLException refused) {
            throw new IllegalStateException("The statement cannot be deferred: " + refused.getMessage(), refused);
        }
    }

    /** Sends what the handler has deferred, in its order. */
    final void send(Connection connection) throws SQLException {
        for (Deferred.Step<GuardedUnit> step : deferred.steps()) {
            step.send(connection, guard::send);
        }
    }

    @Override
    public boolean used() {
        return guard.used() || !deferred.isEmpty();
    }

    @Override
    public boolean isOwn(Throwable failure) {
        return SqlFaults.isAnywhere(failure, guard::hasThrown);
    }

    @Override
    public final boolean withdraw() {
        guard.revoke();
        return guard.isInCall();
    }

    /** See {@link UnitOfWork#horizon}. */
    final Optional<Instant> horizon(ClaimedMarker marker, Connection connection, Instant made) {
        try {
            return marker.horizon(connection, made);
        } catch (SQLException failure) {
            throw faults.explained("read the horizon for", key, failure);
        }
    }

    /** See {@link UnitOfWork#streams}. */
    final Streams streams(ClaimedMarker marker, Supplier<Connection> connection) {
        return new JdbcStreams(marker.markers().streams(), faults, connection, marker.consumer(), false);
    }

    /** Takes the connection away and waits for a call of a stray thread; false when that call does not end. */
    final boolean takeAway() {
        guard.revoke();
        boolean quiet = guard.quiet(STRAY_CALL_LIMIT);
        if (quiet) {
            guard.condemnWhatIsOpen();
        }
        return quiet;
    }

    final BrokenTransactionException strayThread() {
        return new BrokenTransactionException(
                "A thread of the handler of " + key
                        + " is still using its transaction after the handler returned: it can"
                        + " only be rolled back. Wait for the thread inside the handler",
                false,
                null);
    }

    final BrokenTransactionException rolledBackInside(SQLException where) {
        return new BrokenTransactionException(
                "Inside the handler of " + key
                        + " a library rolled back, or closed a connection without commit, or left a transaction open, or a"
                        + " message failed that had joined, and the handler returned as if nothing had happened: everything was undone. Let the exception out of"
                        + " the handler; the cause shows where it was",
                false,
                where);
    }
}
