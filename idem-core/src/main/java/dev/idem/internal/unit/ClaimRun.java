package dev.idem.internal.unit;

import dev.idem.Outcome;
import dev.idem.internal.event.Events;
import dev.idem.spi.Claim;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.UnitOfWork;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What follows from one claim, the same for a unit of its own and for one that joins: the marker that is there, the
 * horizon, the sequence, the handler. Whatever goes wrong between the grant and the answer, the unit is closed, which undoes
 * what did not end and takes it away from the thread.
 */
final class ClaimRun {
    private final Horizon horizon;

    ClaimRun(Events events) {
        horizon = new Horizon(events);
    }

    /** @param wait how long to wait for the stream of a consumer that has a sequence */
    <T extends @Nullable Object, X extends Exception> Outcome<T> of(
            Claim claim, Delivery<T, X> attempt, MarkerKey key, Duration wait, Ways<T, X> ways) throws X {
        if (claim instanceof Claim.Taken taken) {
            return ways.taken(taken.marker());
        }
        if (claim instanceof Claim.Busy) {
            return new Outcome.Busy<>();
        }
        if (claim instanceof Claim.Forgotten forgotten) {
            return Horizon.forgotten(attempt, key, forgotten.horizon());
        }
        if (claim instanceof Claim.Unforeseen unforeseen) {
            return Horizon.unforeseen(attempt, key, unforeseen.latest());
        }
        if (claim instanceof Claim.Unplaced unplaced) {
            return Horizon.unplaced(attempt, unplaced);
        }
        try (UnitOfWork unit = ((Claim.Granted) claim).unit()) {
            ways.granted(unit);
            Optional<Outcome<T>> stopped = horizon.judge(attempt, key, unit::horizon);
            if (stopped.isEmpty()) {
                stopped = UnitSequence.judge(attempt, unit, wait);
            }
            if (stopped.isPresent()) {
                unit.rollback();
                return stopped.get();
            }
            return ways.run(unit);
        }
    }

    /** What differs between the two kinds of units. */
    interface Ways<T extends @Nullable Object, X extends Exception> {
        /** A marker of this key was read. */
        Outcome<T> taken(Marker marker);

        /** Called before anything else is done with a unit. */
        default void granted(UnitOfWork unit) {}

        /** Runs the handler and ends the unit. */
        Outcome<T> run(UnitOfWork unit) throws X;
    }
}
