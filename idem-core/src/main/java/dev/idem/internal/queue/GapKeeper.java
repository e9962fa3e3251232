package dev.idem.internal.queue;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.SequencePlan;
import dev.idem.internal.event.Events;
import dev.idem.internal.key.Placement;
import dev.idem.internal.outbox.WorkerSignals;
import dev.idem.sequence.Gap;
import dev.idem.sequence.GapResolver;
import dev.idem.spi.SequenceStore;
import dev.idem.spi.StreamVersion;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the resolver about gaps whose deadline is over, and does what it says. At that time the message is held again, for
 * another deadline, so a crash at any point here only means to be asked once more. Thread-safe.
 */
public final class GapKeeper {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final String ACTOR = "gap resolver";

    private final SequenceStore store;
    private final Events events;
    private final WorkerSignals signals;
    private final BiFunction<ConsumerPlan, List<Message>, List<Outcome<?>>> door;

    /** @param door takes in messages that were fetched */
    public GapKeeper(
            SequenceStore store,
            Events events,
            WorkerSignals signals,
            BiFunction<ConsumerPlan, List<Message>, List<Outcome<?>>> door) {
        this.store = store;
        this.events = events;
        this.signals = signals;
        this.door = door;
    }

    /** How the resolver is asked: with a limit. */
    @FunctionalInterface
    interface Asking {
        GapResolver.Decision ask(Callable<GapResolver.Decision> question) throws Exception;
    }

    /** For a message that is held again; nothing of this fails its worker. */
    void resolve(ConsumerPlan consumer, Message message, Asking asking) {
        SequencePlan sequence = consumer.sequence().orElseThrow();
        if (!(sequence.place(message) instanceof Placement.At at)) {
            return;
        }
        try {
            Optional<Gap> gap = store.gap(consumer.name(), at.place().stream()).filter(Gap::isOpen);
            if (gap.isPresent()) {
                GapResolver.Decision decision =
                        asking.ask(() -> sequence.onGap().decide(gap.get(), message));
                act(consumer, gap.get(), message, at.place(), decision);
            }
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            log.warn("{}: a gap could not be resolved; asked again after its next deadline", consumer.name(), failure);
        }
    }

    private void act(
            ConsumerPlan consumer, Gap gap, Message message, StreamVersion place, GapResolver.Decision decision) {
        if (decision instanceof GapResolver.Decision.Skip) {
            done(gap, "GAP_SKIPPED", store.pass(gap, gap.next(), deed(consumer, "GAP_SKIPPED")));
        } else if (decision instanceof GapResolver.Decision.Snapshot) {
            done(gap, "GAP_SNAPSHOT", store.pass(gap, place.version(), deed(consumer, "GAP_SNAPSHOT")));
        } else if (decision instanceof GapResolver.Decision.Park) {
            Optional<Integer> parked = store.park(gap, deed(consumer, "GAP_PARKED"));
            done(gap, "GAP_PARKED", parked);
            parked.filter(many -> many > 0)
                    .ifPresent(many -> events.incidents().gapParked(consumer, message, place.version(), gap, many));
        } else if (decision instanceof GapResolver.Decision.Fetched fetched
                && !fetched.messages().isEmpty()) {
            String session = message.replaySession().orElse(null); // whose stream it is that lacks them
            List<Message> missing = fetched.messages().stream()
                    .map(one -> session == null ? one : inSession(consumer, one, session))
                    .toList();
            List<Outcome<?>> outcomes = door.apply(consumer, missing);
            done(gap, "GAP_FETCHED", Optional.of(outcomes.size()));
        }
        log.debug(
                "{}: {} answered with {}",
                consumer.name(),
                message,
                decision.getClass().getSimpleName());
    }

    /** Known by its key, so that it may fill the gap also when its session has delivered everything. */
    private static Message inSession(ConsumerPlan consumer, Message one, String session) {
        Message plain = one.toBuilder().replaySession(null).build();
        return one.toBuilder()
                .replaySession(session)
                .markedAs(consumer.keyOf(plain).orElse(null))
                .build();
    }

    private void done(Gap gap, String action, Optional<Integer> touched) {
        if (touched.isPresent()) {
            signals.of(gap.consumer()).ring(1);
            events.tell(listener -> listener.gapResolved(gap, action));
        }
    }

    private static SequenceStore.Deed deed(ConsumerPlan consumer, String action) {
        return new SequenceStore.Deed(
                action,
                ACTOR,
                "nothing came within " + consumer.sequence().orElseThrow().gapDeadline());
    }
}
