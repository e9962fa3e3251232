package dev.idem;

import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.Step;
import dev.idem.spi.StepHook;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.Unit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Why a message is processed once. One unit is one transaction:
 *
 * <pre>
 *   claim the marker ──► handler writes ──► confirm that the marker is still ours ──► commit
 * </pre>
 *
 * The claim comes first and is exclusive, so of many deliveries one runs. Marker and effect commit together, so a crash
 * before the commit leaves neither and a crash after it leaves both. A duplicate is only what a marker that was
 * <em>read</em> says. When the answer to the commit is lost, the key is claimed again: the marker is there and says done,
 * or the claim is granted and the work runs again, or it is busy because the old commit is still on its way. Nothing is
 * ever concluded from not finding a row: where markers have been removed, {@link Horizon} says for which messages a grant
 * proves nothing.
 */
final class UnitRunner {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final Engine engine;
    private final MarkerStore store;
    private final Events events;
    private final StepHook steps;
    private final Horizon horizon;

    UnitRunner(Engine engine) {
        this.engine = engine;
        this.store = engine.store();
        this.events = engine.events();
        this.steps = engine.steps();
        this.horizon = new Horizon(events);
    }

    <T extends @Nullable Object, X extends Exception> Outcome<T> run(Attempt<T, X> attempt, MarkerKey key) throws X {
        engine.nesting().enterAlone(key);
        Outcome<T> outcome;
        try {
            outcome = throughGate(attempt, key);
        } finally {
            engine.nesting().leave();
        }
        if (outcome instanceof Outcome.Processed) {
            engine.outboxes().committed(attempt.published());
        }
        return outcome;
    }

    private <T extends @Nullable Object, X extends Exception> Outcome<T> throughGate(
            Attempt<T, X> attempt, MarkerKey key) throws X {
        long start = System.nanoTime();
        Optional<KeyGate.Pass> pass = engine.gate().enter(key, attempt.policy().busyWait());
        if (pass.isEmpty()) {
            return new Outcome.Busy<>();
        }
        try {
            Duration left = attempt.policy().busyWait().minusNanos(System.nanoTime() - start);
            engine.permits().acquire(key);
            try {
                return untilSettled(attempt, key, left.isNegative() ? Duration.ZERO : left);
            } finally {
                engine.permits().release();
            }
        } finally {
            pass.get().close();
        }
    }

    private <T extends @Nullable Object, X extends Exception> Outcome<T> untilSettled(
            Attempt<T, X> attempt, MarkerKey key, Duration wait) throws X {
        ClaimRequest request = new ClaimRequest(key, attempt.fingerprint(), wait, attempt.codec() != null);
        Backoff backoff = new Backoff(attempt.policy().maxRuns());
        Sent<T> sent = null;
        String granted = null;
        while (true) {
            try {
                engine.outboxes().ready(attempt.consumer());
                steps.at(Step.BEFORE_CLAIM, key);
                Claim claim = store.claim(request);
                if (claim instanceof Claim.Taken taken) {
                    refuseHiddenCommit(key, taken.marker(), granted, sent);
                    return settle(key, taken(taken.marker(), request, attempt, sent));
                }
                if (claim instanceof Claim.Busy) {
                    return settle(key, new Outcome.Busy<>());
                }
                if (claim instanceof Claim.Forgotten forgotten) {
                    return settle(key, Horizon.forgotten(attempt, key, forgotten.horizon()));
                }
                if (claim instanceof Claim.Unplaced unplaced) {
                    return settle(key, Horizon.unplaced(attempt, unplaced));
                }
                try (Unit unit = ((Claim.Granted) claim).unit()) {
                    granted = unit.claimId();
                    steps.at(Step.AFTER_CLAIM, key);
                    Optional<Outcome<T>> tooOld = horizon.judge(attempt, key, unit::horizon);
                    if (tooOld.isPresent()) {
                        unit.rollback();
                        return settle(key, tooOld.get());
                    }
                    Optional<Outcome<T>> stopped = UnitSequence.judge(attempt, unit, wait);
                    if (stopped.isPresent()) {
                        unit.rollback();
                        return settle(key, stopped.get());
                    }
                    T result = handle(attempt, key, unit);
                    sent = new Sent<>(unit.claimId(), result);
                    commit(attempt, key, unit, result);
                    return settle(key, new Outcome.Processed<>(result));
                }
            } catch (CommitUnknownException lost) {
                events.tell(l -> l.commitUnknown(key.consumer(), lost));
                again(key, backoff, attempt, lost);
            } catch (TransientStoreException undone) {
                again(key, backoff, attempt, undone);
            } catch (UndoneByStore undone) {
                again(key, backoff, attempt, undone.failure());
            }
        }
    }

    /** A marker of a claim of ours whose commit we never sent: the handler committed, and then lost its connection. */
    private void refuseHiddenCommit(MarkerKey key, Marker marker, @Nullable String granted, @Nullable Sent<?> sent) {
        boolean ours = marker.claimId().equals(granted);
        if (ours && (sent == null || !sent.claimId.equals(granted))) {
            throw Failures.reported(events, key, BrokenTransactionException.hiddenCommit(key, null));
        }
    }

    /** After a lost answer, a marker that carries our own claim is our own commit. */
    private static <T extends @Nullable Object> Outcome<T> taken(
            Marker marker, ClaimRequest request, Attempt<T, ?> attempt, @Nullable Sent<T> sent) {
        return sent != null && sent.claimId.equals(marker.claimId())
                ? new Outcome.Processed<>(sent.result)
                : Verdict.of(request.key(), request.fingerprint(), marker, attempt.codec());
    }

    private <T extends @Nullable Object> Outcome<T> settle(MarkerKey key, Outcome<T> outcome) {
        steps.at(Step.BEFORE_SETTLEMENT, key);
        return outcome;
    }

    private <T extends @Nullable Object, X extends Exception> T handle(Attempt<T, X> attempt, MarkerKey key, Unit unit)
            throws X {
        Duration limit = attempt.policy().handlerTimeout();
        Deadlines.Watch watch = engine.deadlines().watch(unit, limit);
        T result;
        try {
            steps.at(Step.BEFORE_HANDLER, key);
            result = attempt.handle(unit, key);
            engine.outboxes().defer(unit, attempt.published());
            UnitRunner.<X>flush(unit);
            steps.at(Step.AFTER_HANDLER, key);
        } catch (Throwable failure) {
            boolean late = watch.finish();
            rollBack(key, unit, failure);
            throw late ? engine.tooLate(key, limit, failure) : this.<X>undone(failure);
        }
        if (watch.finish()) {
            HandlerTimeoutException late = engine.tooLate(key, limit, null);
            rollBack(key, unit, late);
            throw late;
        }
        return result;
    }

    @SuppressWarnings("TypeParameterUnusedInFormals") // names what the handler declares
    static <X extends Exception> void flush(Unit unit) throws X {
        try {
            unit.flush();
        } catch (Exception failure) {
            throw Failures.<X>asDeclared(failure);
        }
    }

    /** The handler's exception as it is, or a mark that the database and not the handler is the reason. */
    @SuppressWarnings("TypeParameterUnusedInFormals") // names what the handler declares
    private <X extends Exception> RuntimeException undone(Throwable failure) throws X {
        if (store.isTransient(failure)) {
            return new UndoneByStore(failure, List.of());
        }
        throw Failures.<X>asDeclared(failure);
    }

    private void rollBack(MarkerKey key, Unit unit, Throwable failure) {
        steps.at(Step.BEFORE_ROLLBACK, key);
        try {
            unit.rollback();
        } catch (BrokenTransactionException broken) {
            throw Failures.broken(events, key, broken, failure);
        } catch (RuntimeException secondary) {
            Failures.suppress(failure, secondary); // close() of the unit tears the connection down
        }
        steps.at(Step.AFTER_ROLLBACK, key);
    }

    private <T extends @Nullable Object> void commit(Attempt<T, ?> attempt, MarkerKey key, Unit unit, T result) {
        try {
            unit.revoke();
            engine.unused().check(attempt.policy(), key, unit);
            steps.at(Step.BEFORE_COMMIT, key);
            unit.commit(attempt.stored(result));
        } catch (BrokenTransactionException broken) {
            throw Failures.reported(events, key, broken);
        }
        steps.at(Step.AFTER_COMMIT, key);
    }

    private <X extends Exception> void again(MarkerKey key, Backoff backoff, Attempt<?, X> attempt, Throwable cause)
            throws X {
        if (!backoff.hasNext()) {
            throw Failures.<X>asDeclared(cause);
        }
        int nextRun = attempt.runs() + 1; // read here: the listeners hear it on another thread, and later
        events.tell(l -> l.ranAgain(key.consumer(), nextRun, cause));
        // Its type only: drivers quote values of a failed batch in their messages.
        log.debug("{}: undone by {}, runs again", key, cause.getClass().getName());
        steps.at(Step.BEFORE_RETRY, key);
        backoff.pause();
    }

    /** A commit that was sent: which claim, and what the handler had returned. */
    private record Sent<T extends @Nullable Object>(String claimId, T result) {}
}
