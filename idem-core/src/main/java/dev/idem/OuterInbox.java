package dev.idem;

import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.Unit;
import java.sql.Connection;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Claims and runs inside somebody else's transaction: no retry, no commit, no waiting in this process, no timeout. */
final class OuterInbox implements JoinedInbox {
    private final MarkerStore.Joinable store;
    private final Connection outer;
    private final Nesting nesting;
    private final Events events;
    private final Sessions sessions;
    private final Observer observer;
    private final Wishes wishes;
    private final Outboxes outboxes;
    private final Horizon horizon;
    private final Deque<Unit> unconfirmed = new ArrayDeque<>();

    OuterInbox(MarkerStore.Joinable store, Connection outer, Engine engine, Observer observer, Wishes wishes) {
        this.store = store;
        this.outer = outer;
        this.nesting = engine.nesting();
        this.events = engine.events();
        this.sessions = engine.sessions();
        this.observer = observer;
        this.wishes = wishes;
        this.outboxes = engine.outboxes();
        this.horizon = new Horizon(events);
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> Provisional<T> process(
            Consumer consumer, Message message, Work<T, X> work) throws X {
        if (consumer.isWatermark()) {
            throw new UnsupportedOperationException("Consumer " + consumer.name()
                    + " has a watermark, which cannot be moved inside another transaction");
        }
        Attempt<T, X> attempt = new Attempt<>(consumer, message, work, null);
        try {
            wishes.tell(consumer);
            outboxes.ready(consumer);
            Provisional<T> answer = consumer.policy().observeOnly() ? observed(attempt) : judged(attempt);
            attempt.report(events, answer.outcome());
            return answer;
        } catch (Throwable failure) {
            attempt.report(events, new Outcome.Failed<T>(Failures.kindOf(failure, consumer.policy(), store), failure));
            throw failure;
        }
    }

    private <T extends @Nullable Object, X extends Exception> Provisional<T> judged(Attempt<T, X> attempt) throws X {
        Keyed keyed = attempt.keyed(events, sessions);
        return keyed instanceof Keyed.Not none ? now(none.outcome()) : claimAndRun(attempt, ((Keyed.Key) keyed).key());
    }

    private <T extends @Nullable Object, X extends Exception> Provisional<T> observed(Attempt<T, X> attempt) throws X {
        String consumer = attempt.consumer().name();
        observer.delivered(consumer);
        Provisional<T> answer = judged(attempt);
        if (!observer.stopped(consumer, answer.outcome())) {
            return answer;
        }
        events.tell(l -> l.observed(consumer, answer.outcome()));
        return claimAndRun(attempt, attempt.anyKey());
    }

    private <T extends @Nullable Object, X extends Exception> Provisional<T> claimAndRun(
            Attempt<T, X> attempt, MarkerKey key) throws X {
        nesting.enterJoined(key);
        try {
            ClaimRequest request = new ClaimRequest(
                    key, attempt.fingerprint(), attempt.policy().busyWait(), false);
            Claim claim = store.claimWithin(outer, request);
            if (claim instanceof Claim.Taken taken) {
                return now(Verdict.of(key, request.fingerprint(), taken.marker(), attempt.codec()));
            }
            if (claim instanceof Claim.Busy) {
                return now(new Outcome.Busy<>());
            }
            if (claim instanceof Claim.Forgotten forgotten) {
                return now(Horizon.forgotten(attempt, key, forgotten.horizon()));
            }
            if (claim instanceof Claim.Unplaced unplaced) {
                return now(Horizon.unplaced(attempt, unplaced));
            }
            Unit unit = ((Claim.Granted) claim).unit();
            Optional<Outcome<T>> tooOld = horizon.judge(attempt, key, unit::horizon);
            if (tooOld.isPresent()) {
                unit.rollback();
                return now(tooOld.get());
            }
            Optional<Outcome<T>> stopped = sequenced(attempt, key, unit);
            if (stopped.isPresent()) {
                unit.rollback();
                return now(stopped.get());
            }
            T result = handle(attempt, key, unit);
            unconfirmed.push(unit);
            return new Provisional<>(
                    new Outcome.Processed<>(result),
                    () -> confirm(key, unit),
                    () -> outboxes.committed(attempt.published()));
        } finally {
            nesting.leave();
        }
    }

    /** The claim must not stay when this fails: the owner of the transaction may commit all the same. */
    private <T extends @Nullable Object> Optional<Outcome<T>> sequenced(
            Attempt<T, ?> attempt, MarkerKey key, Unit unit) {
        try {
            return UnitSequence.judge(attempt, unit, attempt.policy().busyWait());
        } catch (RuntimeException failure) {
            rollBack(key, unit, failure);
            throw failure;
        }
    }

    private <T extends @Nullable Object, X extends Exception> T handle(Attempt<T, X> attempt, MarkerKey key, Unit unit)
            throws X {
        T result;
        try {
            result = attempt.handle(unit, key);
            outboxes.defer(unit, attempt.published());
            UnitRunner.<X>flush(unit);
        } catch (Throwable failure) {
            rollBack(key, unit, failure);
            throw failure;
        }
        try {
            unit.revoke();
        } catch (BrokenTransactionException broken) {
            rollBack(key, unit, broken);
            throw Failures.reported(events, key, broken);
        }
        return result;
    }

    private void rollBack(MarkerKey key, Unit unit, Throwable failure) {
        try {
            unit.rollback();
        } catch (BrokenTransactionException broken) {
            throw Failures.broken(events, key, broken, failure);
        } catch (RuntimeException secondary) {
            Failures.suppress(failure, secondary);
        }
    }

    /** Confirms the newer ones with it, newest first: an older savepoint would take theirs along. */
    private void confirm(MarkerKey key, Unit unit) {
        try {
            while (unconfirmed.contains(unit)) {
                Unit newest = unconfirmed.pop();
                if (newest != unit) {
                    newest.commit(null);
                }
            }
            unit.commit(null);
        } catch (BrokenTransactionException broken) {
            throw Failures.reported(events, key, broken);
        }
    }

    /** An answer for which nothing is left to confirm. */
    private static <T extends @Nullable Object> Provisional<T> now(Outcome<T> outcome) {
        return new Provisional<>(outcome, () -> {}, () -> {});
    }
}
