package dev.idem.internal.unit;

import dev.idem.BrokenTransactionException;
import dev.idem.CommitRefusedException;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.StoreException;
import dev.idem.internal.event.Events;
import dev.idem.internal.key.KeyGate;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.FaultHook;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.UnitOfWork;
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
public final class UnitRunner {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final InboxContext context;
    private final MarkerStore store;
    private final Events events;
    private final FaultHook steps;
    private final ClaimRun claims;

    public UnitRunner(InboxContext context) {
        this.context = context;
        this.store = context.store();
        this.events = context.events();
        this.steps = context.steps();
        this.claims = new ClaimRun(events);
    }

    public <T extends @Nullable Object, X extends Exception> Outcome<T> run(Delivery<T, X> attempt, MarkerKey key)
            throws X {
        context.nesting().enterAlone(key);
        Outcome<T> outcome;
        try {
            outcome = throughGate(attempt, key);
        } finally {
            context.nesting().leave();
        }
        if (outcome instanceof Outcome.Processed) {
            context.outboxes().committed(attempt.published());
        }
        return outcome;
    }

    private <T extends @Nullable Object, X extends Exception> Outcome<T> throughGate(
            Delivery<T, X> attempt, MarkerKey key) throws X {
        long start = System.nanoTime();
        Optional<KeyGate.Pass> pass = context.gate().enter(key, attempt.policy().busyWait());
        if (pass.isEmpty()) {
            return new Outcome.Busy<>();
        }
        try {
            Duration left = attempt.policy().busyWait().minusNanos(System.nanoTime() - start);
            context.permits().acquire(key);
            try {
                return untilSettled(attempt, key, left.isNegative() ? Duration.ZERO : left);
            } finally {
                context.permits().release();
            }
        } finally {
            pass.get().close();
        }
    }

    private <T extends @Nullable Object, X extends Exception> Outcome<T> untilSettled(
            Delivery<T, X> attempt, MarkerKey key, Duration wait) throws X {
        ClaimRequest request = new ClaimRequest(key, attempt.fingerprint(), wait, attempt.codec() != null);
        Backoff backoff = new Backoff(attempt.policy().maxRuns());
        Own<T, X> own = new Own<>(attempt, request);
        while (true) {
            try {
                context.outboxes().ready(attempt.consumer());
                steps.at(FaultPoint.BEFORE_CLAIM, key);
                return settle(key, claims.of(context.losses().claim(store, request), attempt, key, wait, own));
            } catch (CommitUnknownException lost) {
                events.tell(l -> l.commitUnknown(key.consumer(), lost));
                context.losses().unknown(key, lost);
                again(key, backoff, attempt, lost);
            } catch (TransientStoreException away) {
                again(key, backoff, attempt, away);
            } catch (HandlerTimeoutException late) {
                own.refuseHiddenCommit(late);
                throw late;
            } catch (UndoneByStore undone) {
                boolean lost = store.isConnectionLost(undone.failure());
                boolean guilty = lost && context.losses().undone(key);
                if (guilty || (lost && !backoff.hasNext())) {
                    own.refuseHiddenCommit(undone.failure()); // no claim follows that would tell
                }
                if (guilty) {
                    throw UnknownCommits.endedConnection(key, undone.failure());
                }
                again(key, backoff, attempt, undone.failure());
            } catch (OfOtherStore other) {
                throw Failures.<X>asDeclared(other.failure);
            }
        }
    }

    /** A delivery in transactions of its own: what is known of its claims, however often it runs. */
    private final class Own<T extends @Nullable Object, X extends Exception> implements ClaimRun.Ways<T, X> {
        private final Delivery<T, X> attempt;
        private final ClaimRequest request;
        private @Nullable String granted;
        private @Nullable Sent<T> sent;
        private boolean used;

        private Own(Delivery<T, X> attempt, ClaimRequest request) {
            this.attempt = attempt;
            this.request = request;
        }

        /** After a lost answer, a marker that carries our own claim is our own commit. */
        @Override
        public Outcome<T> taken(Marker marker) {
            context.losses().forget(request.key());
            refuseHiddenCommit(marker);
            return sent != null && sent.claimId.equals(marker.claimId())
                    ? new Outcome.Processed<>(sent.result)
                    : Verdict.of(request.key(), request.fingerprint(), marker, attempt);
        }

        /** A marker of a claim of ours whose commit we never sent: the handler committed, and then lost its connection. */
        private void refuseHiddenCommit(Marker marker) {
            boolean ours = marker.claimId().equals(granted);
            if (ours && (sent == null || !sent.claimId.equals(granted))) {
                throw Failures.reported(
                        events, request.key(), BrokenTransactionException.hiddenCommit(request.key(), null));
            }
        }

        /** The connection is torn down or lost, so only another claim tells whether the handler had committed before. */
        private void refuseHiddenCommit(Throwable late) {
            if (!used) {
                return;
            }
            try {
                Claim claim = store.claim(request.withoutWaiting());
                if (claim instanceof Claim.Taken taken) {
                    refuseHiddenCommit(taken.marker());
                } else if (claim instanceof Claim.Granted free) {
                    free.unit().close();
                }
            } catch (BrokenTransactionException hidden) {
                Failures.suppress(hidden, late);
                throw hidden;
            } catch (StoreException unknown) {
                Failures.suppress(late, unknown);
            }
        }

        @Override
        public void granted(UnitOfWork unit) {
            granted = unit.claimId();
            CommitRefusedException refused = context.losses().granted(request.key());
            if (refused != null) {
                throw refused;
            }
            steps.at(FaultPoint.AFTER_CLAIM, request.key());
        }

        @Override
        public Outcome<T> run(UnitOfWork unit) throws X {
            T result;
            try {
                result = handle(attempt, request.key(), unit);
            } finally {
                used = unit.used();
            }
            sent = new Sent<>(unit.claimId(), result);
            commit(attempt, request.key(), unit, result);
            context.losses().forget(request.key());
            return new Outcome.Processed<>(result);
        }
    }

    private <T extends @Nullable Object> Outcome<T> settle(MarkerKey key, Outcome<T> outcome) {
        steps.at(FaultPoint.BEFORE_SETTLEMENT, key);
        return outcome;
    }

    private <T extends @Nullable Object, X extends Exception> T handle(
            Delivery<T, X> attempt, MarkerKey key, UnitOfWork unit) throws X {
        Duration limit = attempt.policy().handlerTimeout();
        Thread thread = Thread.currentThread();
        Deadlines.Watch watch =
                context.deadlines().watch(unit, limit, () -> context.stuck(List.of(key), limit, thread, unit::close));
        T result;
        try {
            steps.at(FaultPoint.BEFORE_HANDLER, key);
            result = attempt.handle(unit, key);
            context.outboxes().defer(unit, attempt.published());
            UnitRunner.<X>flush(unit);
            steps.at(FaultPoint.AFTER_HANDLER, key);
        } catch (Throwable failure) {
            boolean late = watch.finish();
            attempt.failed(failure, unit);
            rollBack(key, unit, failure);
            throw late ? context.tooLate(key, limit, failure) : this.<X>undone(attempt, key, failure);
        }
        if (watch.finish()) {
            HandlerTimeoutException late = context.tooLate(key, limit, null);
            rollBack(key, unit, late);
            throw late;
        }
        return result;
    }

    @SuppressWarnings("TypeParameterUnusedInFormals") // names what the handler declares
    static <X extends Exception> void flush(UnitOfWork unit) throws X {
        try {
            unit.flush();
        } catch (Exception failure) {
            throw Failures.<X>asDeclared(failure);
        }
    }

    /** The handler's exception as it is, or a mark that the database and not the handler is the reason. */
    @SuppressWarnings("TypeParameterUnusedInFormals") // names what the handler declares
    private <X extends Exception> RuntimeException undone(Delivery<?, X> attempt, MarkerKey key, Throwable failure)
            throws X {
        if (store.isTransient(failure) && !attempt.isOfHandler(failure)) {
            return new UndoneByStore(failure);
        }
        context.losses().forget(key);
        if (failure instanceof StoreException && attempt.isOfHandler(failure)) {
            return new OfOtherStore(failure);
        }
        throw Failures.<X>asDeclared(failure);
    }

    private void rollBack(MarkerKey key, UnitOfWork unit, Throwable failure) {
        steps.at(FaultPoint.BEFORE_ROLLBACK, key);
        try {
            unit.rollback();
        } catch (BrokenTransactionException broken) {
            throw Failures.broken(events, key, broken, failure);
        } catch (RuntimeException secondary) {
            Failures.suppress(failure, secondary); // close() of the unit tears the connection down
        }
        steps.at(FaultPoint.AFTER_ROLLBACK, key);
    }

    private <T extends @Nullable Object> void commit(Delivery<T, ?> attempt, MarkerKey key, UnitOfWork unit, T result) {
        try {
            unit.revoke();
            StoredResult stored = storable(attempt, key, unit, result);
            steps.at(FaultPoint.BEFORE_COMMIT, key);
            unit.commit(stored);
        } catch (BrokenTransactionException broken) {
            throw Failures.reported(events, key, broken);
        } catch (TransientStoreException undone) {
            throw new UndoneByStore(undone);
        }
        steps.at(FaultPoint.AFTER_COMMIT, key);
    }

    /** What keeps a handler's work from being committed, when the handler itself has returned. */
    private <T extends @Nullable Object> @Nullable StoredResult storable(
            Delivery<T, ?> attempt, MarkerKey key, UnitOfWork unit, T result) {
        try {
            context.unused().check(attempt.policy(), key, unit.used() || attempt.saysOutputs());
            return attempt.stored(result, store);
        } catch (RuntimeException | Error failure) {
            rollBack(key, unit, failure);
            throw failure;
        }
    }

    private <X extends Exception> void again(MarkerKey key, Backoff backoff, Delivery<?, X> attempt, Throwable cause)
            throws X {
        // What the database answered is told by the next claim, also when the handler must not run again.
        boolean judging = cause instanceof CommitUnknownException unknown && unknown.answered();
        if (!backoff.hasNext() && !judging) {
            throw Failures.<X>asDeclared(cause);
        }
        int nextRun = attempt.runs() + 1; // read here: the listeners hear it on another thread, and later
        events.tell(l -> l.ranAgain(key.consumer(), nextRun, cause));
        // Its type only: drivers quote values of a failed batch in their messages.
        log.debug("{}: undone by {}, runs again", key, cause.getClass().getName());
        steps.at(FaultPoint.BEFORE_RETRY, key);
        backoff.pause();
    }

    /** Carries what a store of the handler's threw past those who would take it for a word of ours. */
    private static final class OfOtherStore extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient Throwable failure;

        private OfOtherStore(Throwable failure) {
            super(failure);
            this.failure = failure;
        }
    }

    /** A commit that was sent: which claim, and what the handler had returned. */
    private record Sent<T extends @Nullable Object>(String claimId, T result) {}
}
