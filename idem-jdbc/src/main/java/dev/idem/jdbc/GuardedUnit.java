package dev.idem.jdbc;

import dev.idem.BrokenTransactionException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.Unit;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import javax.sql.DataSource;

/** What the two kinds of units share: a claimed marker, and a guard that can be taken away from the handler. */
abstract class GuardedUnit implements Unit {
    private static final Duration STRAY_CALL_LIMIT = Duration.ofSeconds(5);

    final ClaimedMarker marker;
    final MarkerKey key;
    final SqlFaults faults;
    final Guard guard;

    GuardedUnit(ClaimedMarker marker, SqlFaults faults, Guard guard) {
        this.marker = marker;
        this.key = marker.key();
        this.faults = faults;
        this.guard = guard;
    }

    @Override
    public final String claimId() {
        return marker.claimId();
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
    public final boolean used() {
        return guard.used();
    }

    @Override
    public final boolean withdraw() {
        guard.revoke();
        return guard.isInCall();
    }

    final Optional<Instant> horizon(Connection connection, Instant made) {
        try {
            return marker.horizon(connection, made);
        } catch (SQLException failure) {
            throw faults.explained("read the horizon for", key, failure);
        }
    }

    /** Takes the connection away and waits for a call of a stray thread; false when that call does not end. */
    final boolean takeAway() {
        guard.revoke();
        return guard.quiet(STRAY_CALL_LIMIT);
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
                        + " a library rolled back, or closed a connection without commit, and the"
                        + " handler returned as if nothing had happened: everything was undone. Let the exception out of"
                        + " the handler; the cause shows where it was",
                false,
                where);
    }
}
