package dev.idem.internal.unit;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.Route;
import dev.idem.Work;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.ConsumerRegistration;
import dev.idem.internal.consumer.Undecodable;
import dev.idem.internal.event.Events;
import dev.idem.internal.event.Observer;
import dev.idem.internal.key.Keyed;
import dev.idem.join.JoinedFailure;
import dev.idem.join.JoinedInbox;
import dev.idem.join.Provisional;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Claims and runs inside somebody else's transaction: no retry, no commit, no waiting in this process, no timeout. */
public final class JoiningInbox implements JoinedInbox {
    private static final String ROLL_BACK =
            "The transaction that this message had joined can only be rolled back now: roll"
                    + " it back and deliver the message again. Where all the work of its handler is SQL of that transaction,"
                    + " inbox.within(connection, JoinedFailure.UNDO_TO_SAVEPOINT) lets the owner go on";

    private final MarkerStore.Joinable store;
    private final Connection outer;
    private final JoinedFailure onFailure;
    private final InboxContext context;
    private final Events events;
    private final Observer observer;
    private final ConsumerRegistration registrations;
    private final ClaimRun claims;

    public JoiningInbox(
            MarkerStore.Joinable store,
            Connection outer,
            JoinedFailure onFailure,
            InboxContext context,
            Observer observer,
            ConsumerRegistration registrations) {
        this.store = store;
        this.outer = Objects.requireNonNull(outer, "outer");
        this.onFailure = Objects.requireNonNull(onFailure, "onFailure");
        this.context = context;
        this.events = context.events();
        this.observer = observer;
        this.registrations = registrations;
        this.claims = new ClaimRun(events);
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> Provisional<T> process(
            Consumer consumer, Message message, Work<T, X> work) throws X {
        return settled(new Delivery<>(ConsumerPlan.of(consumer), message, work, null));
    }

    @Override
    public Provisional<?> accept(Consumer declared, Message message) {
        ConsumerPlan consumer = ConsumerPlan.of(declared);
        refuseOtherDoors(consumer);
        Optional<Route> route = consumer.route(message);
        if (route.isPresent()) {
            return accept(Delivery.of(consumer, message, route.get()));
        }
        Outcome<?> unknown = consumer.unknownType(message);
        events.answered(consumer, message, unknown);
        return now(unknown);
    }

    private <T extends @Nullable Object> Provisional<T> accept(Delivery<T, Exception> attempt) {
        try {
            return settled(attempt);
        } catch (Undecodable undecodable) {
            return now(undecodable.outcome());
        } catch (NestedProcessingException programmingError) {
            throw programmingError;
        } catch (Throwable failure) {
            Outcome.Failed<T> failed =
                    new Outcome.Failed<>(Failures.kindOf(failure, attempt, store), Failures.unlessFatal(failure));
            events.incidents().settled(attempt.consumer(), attempt.message(), failed);
            return now(failed);
        }
    }

    private <T extends @Nullable Object, X extends Exception> Provisional<T> settled(Delivery<T, X> attempt) throws X {
        refuseOtherDoors(attempt.consumer());
        try {
            refuseBeside(attempt);
            registrations.tell(attempt.consumer());
            context.outboxes().ready(attempt.consumer());
            Provisional<T> answer = attempt.policy().observeOnly() ? observed(attempt) : judged(attempt);
            attempt.report(events, answer.outcome());
            return answer;
        } catch (Undecodable undecodable) {
            attempt.report(events, undecodable.outcome());
            throw undecodable;
        } catch (Throwable failure) {
            attempt.tell(events, new Outcome.Failed<T>(Failures.kindOf(failure, attempt, store), failure));
            throw failure;
        }
    }

    /** Libraries would write into the other transaction what this message does. Observe mode only looks. */
    private void refuseBeside(Delivery<?, ?> attempt) {
        if (attempt.policy().observeOnly()) {
            return;
        }
        store.openBeside(outer).ifPresent(open -> {
            throw new NestedProcessingException(
                    "Refused to process a message of " + attempt.consumer().name()
                            + " within this connection: another transaction than its own is open on this thread. Join that one,"
                            + " or end it before. It is " + open,
                    null);
        });
    }

    private static void refuseOtherDoors(ConsumerPlan consumer) {
        if (consumer.isWatermark()) {
            throw new UnsupportedOperationException("Consumer " + consumer.name()
                    + " has a watermark, which cannot be moved inside another transaction");
        }
        if (consumer.isQueued()) {
            throw new UnsupportedOperationException("Consumer " + consumer.name()
                    + " is queued: its messages are stored in transactions of their own, by inbox.accept");
        }
    }

    private <T extends @Nullable Object, X extends Exception> Provisional<T> judged(Delivery<T, X> attempt) throws X {
        Keyed keyed = attempt.keyed(events, context.sessions());
        return keyed instanceof Keyed.Not none ? now(none.outcome()) : run(attempt, ((Keyed.Key) keyed).key());
    }

    private <T extends @Nullable Object, X extends Exception> Provisional<T> observed(Delivery<T, X> attempt) throws X {
        String consumer = attempt.consumer().name();
        observer.delivered(consumer);
        Provisional<T> answer = judged(attempt);
        if (!observer.stopped(consumer, answer.outcome())) {
            return answer;
        }
        events.tell(l -> l.observed(consumer, answer.outcome()));
        return run(attempt, attempt.anyKey());
    }

    private <T extends @Nullable Object, X extends Exception> Provisional<T> run(Delivery<T, X> attempt, MarkerKey key)
            throws X {
        context.nesting().enterJoined(key);
        try {
            Duration wait = attempt.policy().busyWait();
            ClaimRequest request = new ClaimRequest(key, attempt.fingerprint(), wait, attempt.codec() != null);
            Joined<T, X> joined = new Joined<>(attempt, request);
            Claim claim = store.claimWithin(outer, request);
            return joined.provisional(claims.of(claim, attempt, key, wait, joined));
        } finally {
            context.nesting().leave();
        }
    }

    /** A delivery in somebody else's transaction. */
    private final class Joined<T extends @Nullable Object, X extends Exception> implements ClaimRun.Ways<T, X> {
        private final Delivery<T, X> attempt;
        private final ClaimRequest request;
        private final JoinedPlace place = JoinedPlace.here(store, outer);
        private @Nullable UnitOfWork kept;

        private Joined(Delivery<T, X> attempt, ClaimRequest request) {
            this.attempt = attempt;
            this.request = request;
        }

        @Override
        public Outcome<T> taken(Marker marker) {
            return Verdict.of(request.key(), request.fingerprint(), marker, attempt);
        }

        @Override
        public Outcome<T> run(UnitOfWork unit) throws X {
            JoinedHandler handler = JoinedHandler.begin(request.key(), place);
            boolean done = false;
            try {
                Outcome<T> outcome = handled(unit);
                done = true;
                return outcome;
            } finally {
                handler.end();
                if (!done) {
                    handler.undone();
                }
            }
        }

        /** The owner may commit without asking, so everything is proven before the answer. */
        private Outcome<T> handled(UnitOfWork unit) throws X {
            T result;
            try {
                result = attempt.handle(unit, request.key());
                context.outboxes().defer(unit, attempt.published());
                UnitRunner.<X>flush(unit);
            } catch (Undecodable untouched) {
                throw untouched; // no handler saw it
            } catch (Throwable failure) {
                undo(unit, failure);
                throw failure;
            }
            try {
                unit.revoke();
                unit.commit(attempt.stored(result, store));
            } catch (BrokenTransactionException broken) {
                undo(unit, broken);
                throw Failures.reported(events, request.key(), broken);
            } catch (Throwable failure) {
                undo(unit, failure);
                throw failure;
            }
            kept = unit;
            return new Outcome.Processed<>(result);
        }

        private void undo(UnitOfWork unit, Throwable failure) {
            try {
                unit.rollback();
            } catch (BrokenTransactionException broken) {
                if (failure instanceof BrokenTransactionException told && told.leftBehind() == broken.leftBehind()) {
                    Failures.suppress(told, broken);
                    return;
                }
                throw Failures.broken(events, request.key(), broken, failure);
            } catch (RuntimeException secondary) {
                Failures.suppress(failure, secondary);
            } finally {
                condemn(failure);
            }
        }

        /** What the handler has left in memory, an ORM's entities say, would be written by the owner's commit. */
        private void condemn(Throwable failure) {
            if (onFailure == JoinedFailure.UNDO_TO_SAVEPOINT) {
                return;
            }
            store.rollbackOnly(outer);
            boolean told = Stream.of(failure.getSuppressed()).anyMatch(s -> ROLL_BACK.equals(s.getMessage()));
            if (!told) { // a handler may throw the same instance each time
                Failures.suppress(failure, new IdemException(ROLL_BACK, null));
            }
        }

        private Provisional<T> provisional(Outcome<T> outcome) {
            UnitOfWork unit = kept;
            return unit == null
                    ? now(outcome)
                    : new JoinedAnswer<>(
                            outcome,
                            place,
                            () -> confirm(unit),
                            () -> context.outboxes().committed(attempt.published()));
        }

        private void confirm(UnitOfWork unit) {
            try {
                unit.commit(null);
            } catch (BrokenTransactionException broken) {
                throw Failures.reported(events, request.key(), broken);
            }
        }
    }

    /** An answer for which nothing is left to confirm. */
    private <T extends @Nullable Object> Provisional<T> now(Outcome<T> outcome) {
        return new JoinedAnswer<>(outcome, JoinedPlace.here(store, outer), () -> {}, () -> {});
    }
}
