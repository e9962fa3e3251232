package dev.idem.internal.inbox;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Observation;
import dev.idem.Outcome;
import dev.idem.Position;
import dev.idem.ResultCodec;
import dev.idem.Route;
import dev.idem.Work;
import dev.idem.internal.batch.BatchEntry;
import dev.idem.internal.batch.BatchProcessor;
import dev.idem.internal.batch.BatchRunner;
import dev.idem.internal.batch.WatermarkProcessor;
import dev.idem.internal.consumer.Codecs;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.ConsumerRegistration;
import dev.idem.internal.consumer.Order;
import dev.idem.internal.consumer.Undecodable;
import dev.idem.internal.event.Events;
import dev.idem.internal.event.Observer;
import dev.idem.internal.key.Keyed;
import dev.idem.internal.outbox.WorkerSignals;
import dev.idem.internal.queue.GapKeeper;
import dev.idem.internal.queue.QueueReceiver;
import dev.idem.internal.unit.BatchSizeLimit;
import dev.idem.internal.unit.Delivery;
import dev.idem.internal.unit.Failures;
import dev.idem.internal.unit.InboxContext;
import dev.idem.internal.unit.InboxOptions;
import dev.idem.internal.unit.JoiningInbox;
import dev.idem.internal.unit.Rescue;
import dev.idem.internal.unit.UnitRunner;
import dev.idem.internal.worker.Workers;
import dev.idem.join.JoinedFailure;
import dev.idem.join.JoinedInbox;
import dev.idem.queue.QueueStats;
import dev.idem.sequence.Gap;
import dev.idem.spi.Batch;
import dev.idem.spi.FaultHook;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.QueueStore;
import dev.idem.spi.StepStore;
import java.sql.Connection;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The door: finds the key and the handler of a message, and turns whatever happens into an outcome. */
public final class StoreInbox implements Inbox {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private static final int MOST_GAPS = 1_000;

    private final MarkerStore store;
    private final Events events;
    private final InboxContext context;
    private final UnitRunner units;
    private final Observer observer = new Observer(Clock.systemUTC());
    private final ConsumerRegistration registrations;
    private final @Nullable BatchProcessor batches;
    private final @Nullable WatermarkProcessor watermarks;
    private final WorkerSignals signals = new WorkerSignals();
    private final @Nullable QueueStore queue;
    private final @Nullable QueueReceiver receipts;
    private final @Nullable Workers workers;

    public StoreInbox(InboxOptions from) {
        store = from.store();
        events = new Events(from.listeners());
        context = InboxContext.of(from, events, signals);
        registrations = new ConsumerRegistration(store);
        units = new UnitRunner(context);
        batches = store instanceof MarkerStore.Batching batching
                ? new BatchProcessor(context, new BatchRunner(context, entries -> claim(batching, entries)))
                : null;
        watermarks =
                store instanceof MarkerStore.Positioned positioned ? new WatermarkProcessor(context, positioned) : null;
        queue = store instanceof MarkerStore.Queueing queueing ? queueing.queue() : null;
        receipts = queue != null && batches != null ? new QueueReceiver(queue, batches, events, signals) : null;
        workers = queue != null ? new Workers(context, queue, signals, from.drain(), gapKeeper(queue)) : null;
        if (from.steps() == FaultHook.NONE) {
            log.info("Inbox: {}, guarantee {}", store.describe(), store.guarantee());
        } else { // of a test kit, which starts hundreds of them
            log.debug("Inbox: {}, guarantee {}", store.describe(), store.guarantee());
        }
    }

    /** Its door is one for workers, who have a permit already. */
    private @Nullable GapKeeper gapKeeper(QueueStore queue) {
        if (!(store instanceof MarkerStore.Sequenced sequenced) || !(store instanceof MarkerStore.Batching batching)) {
            return null;
        }
        InboxContext inside = context.forWorker(new BatchSizeLimit(), Rescue.NONE);
        BatchRunner runner = new BatchRunner(inside, entries -> claim(batching, entries));
        QueueReceiver door = new QueueReceiver(queue, new BatchProcessor(inside, runner), events, signals);
        return new GapKeeper(sequenced.sequences(), events, signals, door::acceptAll);
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> Outcome<T> process(
            Consumer consumer, Message message, Work<T, X> work) throws X {
        return settled(new Delivery<>(ConsumerPlan.of(consumer), message, work, null));
    }

    @Override
    public <T, X extends Exception> Outcome<T> process(
            Consumer consumer, Message message, ResultCodec<T> codec, Work<T, X> work) throws X {
        return settled(new Delivery<>(ConsumerPlan.of(consumer), message, work, Codecs.usable(codec)));
    }

    private Batch claim(MarkerStore.Batching store, List<BatchEntry<?>> entries) {
        registrations.tell(entries.get(0).attempt().consumer());
        return store.claimAll(entries.stream().map(BatchEntry::request).toList());
    }

    @Override
    public Outcome<?> accept(Consumer consumer, Message message) {
        return accept(ConsumerPlan.of(consumer), message);
    }

    private Outcome<?> accept(ConsumerPlan consumer, Message message) {
        if (consumer.isWatermark() || consumer.isQueued()) {
            return acceptAll(consumer, List.of(message)).get(0);
        }
        Optional<Route> route = consumer.route(message);
        return route.isPresent() ? accept(Delivery.of(consumer, message, route.get())) : unknownType(consumer, message);
    }

    private <T extends @Nullable Object> Outcome<T> accept(Delivery<T, Exception> attempt) {
        try {
            return settled(attempt);
        } catch (Undecodable undecodable) {
            return undecodable.outcome();
        } catch (NestedProcessingException programmingError) {
            throw programmingError;
        } catch (Throwable failure) {
            Outcome.Failed<T> failed =
                    new Outcome.Failed<>(Failures.kindOf(failure, attempt, store), Failures.unlessFatal(failure));
            events.incidents().settled(attempt.consumer(), attempt.message(), failed);
            return failed;
        }
    }

    @Override
    public List<Outcome<?>> acceptAll(Consumer consumer, List<Message> messages) {
        return acceptAll(ConsumerPlan.of(consumer), messages);
    }

    private List<Outcome<?>> acceptAll(ConsumerPlan consumer, List<Message> messages) {
        refuseInside(consumer);
        if (consumer.isWatermark()) {
            return watermarks(consumer.name()).acceptAll(consumer, messages);
        }
        if (consumer.isQueued()) {
            return queue(receipts, consumer.name()).acceptAll(consumer, messages);
        }
        if (batches == null || consumer.policy().observeOnly()) { // what observe mode lets through needs its own unit
            return oneByOne(consumer, messages);
        }
        return batches.acceptAll(consumer, messages);
    }

    @Override
    public void settledBefore(Consumer consumer, Position position) {
        if (consumer.isWatermark()) {
            watermarks(consumer.name()).settledBefore(ConsumerPlan.of(consumer), position);
        }
    }

    private WatermarkProcessor watermarks(String consumer) {
        if (watermarks == null) {
            throw new UnsupportedOperationException(
                    store.describe() + " keeps no watermarks, which " + consumer + " needs");
        }
        return watermarks;
    }

    private <Q> Q queue(@Nullable Q part, String consumer) {
        if (part == null) {
            throw new UnsupportedOperationException(store.describe() + " keeps no queue, which " + consumer + " needs");
        }
        return part;
    }

    @Override
    public Outcome<?> park(Consumer consumer, Message message, String reason, @Nullable Throwable cause) {
        if (!consumer.isParking()) {
            throw new IllegalArgumentException(
                    "Consumer " + consumer.name() + " parks nothing: build it with parking(…), or use dead letters");
        }
        refuseInside(
                ConsumerPlan.of(consumer),
                "park a message",
                "; it would be kept whatever becomes of that transaction: park it when that one has ended. It is ");
        return queue(receipts, consumer.name()).park(ConsumerPlan.of(consumer), message, reason, cause);
    }

    @Override
    public void start(Consumer... consumers) {
        for (Consumer consumer : consumers) {
            if (consumer.queue().isEmpty()) {
                throw new IllegalArgumentException(
                        "Consumer " + consumer.name()
                                + " keeps no messages, so it has no workers: build it with queued(…) or parking(…), or do not start it");
            }
            register(consumer);
            queue(workers, consumer.name()).start(ConsumerPlan.of(consumer));
        }
    }

    @Override
    public QueueStats queueStats(String consumer) {
        return queue(queue, consumer).stats(consumer);
    }

    @Override
    public List<Gap> gaps(String consumer) {
        if (store instanceof MarkerStore.Sequenced sequenced) {
            return sequenced.sequences().gaps(consumer, MOST_GAPS);
        }
        throw new UnsupportedOperationException(store.describe() + " keeps no sequences, which " + consumer + " needs");
    }

    private List<Outcome<?>> oneByOne(ConsumerPlan consumer, List<Message> messages) {
        Order order = Order.of(consumer);
        List<Outcome<?>> outcomes = new ArrayList<>(messages.size());
        for (Message message : messages) {
            int position = outcomes.size();
            Outcome<?> outcome =
                    order.isBlocked(message, position) ? held(consumer, message) : accept(consumer, message);
            order.settled(message, position, outcome);
            outcomes.add(outcome);
        }
        return outcomes;
    }

    private Outcome<?> held(ConsumerPlan consumer, Message message) {
        return reported(consumer, message, new Outcome.Held<>(OptionalLong.empty(), false));
    }

    private <T extends @Nullable Object> Outcome<T> unknownType(ConsumerPlan consumer, Message message) {
        return reported(consumer, message, consumer.unknownType(message));
    }

    /** For a delivery that no handler saw. */
    private <T extends @Nullable Object> Outcome<T> reported(
            ConsumerPlan consumer, Message message, Outcome<T> outcome) {
        events.answered(consumer, message, outcome);
        return outcome;
    }

    /** Every delivery that has a handler ends here, so it is reported exactly once. */
    private <T extends @Nullable Object, X extends Exception> Outcome<T> settled(Delivery<T, X> attempt) throws X {
        if (attempt.consumer().isWatermark() || attempt.consumer().isQueued()) {
            throw new UnsupportedOperationException("Consumer "
                    + attempt.consumer().name() + (attempt.consumer().isWatermark() ? " has a watermark" : " is queued")
                    + ": give it handlers, and its messages to accept or acceptAll");
        }
        try {
            refuseInside(attempt.consumer());
            registrations.tell(attempt.consumer());
            Outcome<T> outcome = context.whereabouts()
                    .lookFor(
                            attempt.consumer(),
                            attempt.message(),
                            attempt.policy().observeOnly() ? observed(attempt) : judged(attempt));
            attempt.report(events, outcome);
            return outcome;
        } catch (Undecodable undecodable) {
            attempt.report(events, undecodable.outcome());
            throw undecodable;
        } catch (Throwable failure) {
            attempt.tell(events, new Outcome.Failed<T>(Failures.kindOf(failure, attempt, store), failure));
            throw failure;
        }
    }

    private <T extends @Nullable Object, X extends Exception> Outcome<T> judged(Delivery<T, X> attempt) throws X {
        Keyed keyed = attempt.keyed(events, context.sessions());
        return keyed instanceof Keyed.Not none ? none.outcome() : units.run(attempt, ((Keyed.Key) keyed).key());
    }

    /**
     * Beside an open transaction a unit would commit its marker although the effect, which a library writes into that
     * transaction, may yet be rolled back. Observe mode only looks.
     */
    private void refuseInside(ConsumerPlan consumer) {
        refuseInside(
                consumer,
                "process a message",
                "; use inbox.within(connection) to make the message a part of it, or end it before. It is ");
    }

    private void refuseInside(ConsumerPlan consumer, String what, String advice) {
        if (store instanceof MarkerStore.Joinable joinable && !consumer.policy().observeOnly()) {
            joinable.openHere().ifPresent(open -> {
                throw new NestedProcessingException(
                        "Refused to " + what + " of " + consumer.name() + ": a transaction is open on this thread"
                                + advice + open,
                        null);
            });
        }
    }

    /** The same verdict, but whatever it would have stopped runs in a unit of its own. */
    private <T extends @Nullable Object, X extends Exception> Outcome<T> observed(Delivery<T, X> attempt) throws X {
        String consumer = attempt.consumer().name();
        observer.delivered(consumer);
        Outcome<T> verdict = judged(attempt);
        if (!observer.stopped(consumer, verdict)) {
            return verdict;
        }
        events.tell(l -> l.observed(consumer, verdict));
        return units.run(attempt, attempt.anyKey());
    }

    @Override
    public JoinedInbox within(Connection outer, JoinedFailure onFailure) {
        if (store instanceof MarkerStore.Joinable joinable) {
            return new JoiningInbox(joinable, outer, onFailure, context, observer, registrations);
        }
        throw new UnsupportedOperationException(store.describe() + " cannot join a transaction it did not open");
    }

    @Override
    public void register(Consumer declared) {
        ConsumerPlan consumer = ConsumerPlan.of(declared);
        if (consumer.isWatermark()) {
            watermarks(consumer.name());
        }
        if (consumer.queue().isPresent()) {
            queue(receipts, consumer.name());
        }
        if (consumer.hasSteps() && !(queue instanceof StepStore)) {
            throw new UnsupportedOperationException(
                    store.describe() + " keeps no steps, which " + consumer.name() + " needs");
        }
        store.register(consumer.name());
        context.outboxes().ready(consumer);
        if (!consumer.isWatermark()) { // which has nothing to keep
            registrations.tell(consumer);
        }
    }

    @Override
    public Map<String, Observation> observations() {
        return observer.observations();
    }

    @Override
    public MarkerStore store() {
        return store;
    }

    @Override
    public void close() {
        if (workers != null) {
            workers.close();
        }
        context.deadlines().close();
        events.close();
        store.close();
    }
}
