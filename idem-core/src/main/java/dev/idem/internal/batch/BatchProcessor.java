package dev.idem.internal.batch;

import dev.idem.Failure;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Rejection;
import dev.idem.Route;
import dev.idem.Settlement;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.Order;
import dev.idem.internal.key.Keyed;
import dev.idem.internal.unit.Delivery;
import dev.idem.internal.unit.Failures;
import dev.idem.internal.unit.InboxContext;
import dev.idem.spi.ClaimRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The door for many deliveries at once: sorts out what cannot be handled, cuts the rest into transactions, and gives
 * each delivery its own outcome. A message that is in the list twice is claimed once; its repetitions are judged
 * afterwards by the marker, like any other duplicate.
 */
public final class BatchProcessor {
    private final InboxContext context;
    private final BatchRunner runner;

    public BatchProcessor(InboxContext context, BatchRunner runner) {
        this.context = context;
        this.runner = runner;
    }

    public List<Outcome<?>> acceptAll(ConsumerPlan consumer, List<Message> messages) {
        return acceptAll(consumer, messages, Order.of(consumer));
    }

    List<Outcome<?>> acceptAll(ConsumerPlan consumer, List<Message> messages, Order order) {
        List<BatchEntry<?>> entries = new ArrayList<>(messages.size());
        for (Message message : messages) {
            entries.add(entry(consumer, message, entries.size(), order));
        }
        try {
            List<BatchEntry<?>> waiting = open(entries);
            while (!waiting.isEmpty()) {
                waiting = round(consumer, waiting);
            }
        } catch (Throwable thrown) { // nested use, or the end of this process; told like any other failure
            Failure kind = Failures.kindOf(thrown, consumer.policy(), context.store());
            open(entries).forEach(entry -> entry.fail(kind, thrown));
            report(entries);
            throw thrown;
        }
        return report(entries);
    }

    private List<Outcome<?>> report(List<BatchEntry<?>> entries) {
        new BatchDuplicateLookup(context.whereabouts()).lookFor(entries);
        List<Outcome<?>> outcomes = new ArrayList<>(entries.size());
        for (BatchEntry<?> entry : entries) {
            entry.attempt().report(context.events(), entry.outcome());
            outcomes.add(entry.outcome());
        }
        return outcomes;
    }

    private BatchEntry<?> entry(ConsumerPlan consumer, Message message, int position, Order order) {
        Route route = consumer.route(message).orElse(null);
        if (route != null) {
            return entry(route, new BatchEntry<>(Delivery.of(consumer, message, route), position, order));
        }
        BatchEntry<?> unknown = new BatchEntry<>(Delivery.without(consumer, message), position, order);
        unknown.settle(consumer.unknownType(message));
        return unknown;
    }

    private <T extends @Nullable Object> BatchEntry<T> entry(Route route, BatchEntry<T> entry) {
        Delivery<T, Exception> attempt = entry.attempt();
        try {
            Keyed keyed = attempt.keyed(context.events(), context.sessions());
            if (keyed instanceof Keyed.Not none) {
                entry.settle(none.outcome());
            } else {
                boolean withResult = attempt.codec() != null;
                entry.claimable(
                        route,
                        new ClaimRequest(((Keyed.Key) keyed).key(), attempt.fingerprint(), Duration.ZERO, withResult));
            }
        } catch (Throwable failure) { // a key rule that overflows the stack must not take the others along
            Failures.throwIfFatal(failure);
            entry.fail(Failures.kindOf(failure, attempt, context.store()), failure);
        }
        return entry;
    }

    /** Settles the first of each key, and answers the repetitions that only the marker can judge. */
    private List<BatchEntry<?>> round(ConsumerPlan consumer, List<BatchEntry<?>> waiting) {
        Map<UUID, BatchEntry<?>> firsts = new LinkedHashMap<>();
        List<BatchEntry<?>> repeats = new ArrayList<>();
        for (BatchEntry<?> entry : waiting) {
            if (firsts.putIfAbsent(entry.key().value(), entry) != null) {
                repeats.add(entry);
            }
        }
        settle(consumer, firsts.values());
        for (BatchEntry<?> repeat : repeats) {
            BatchEntry<?> first = firsts.get(repeat.key().value());
            if (first != null && !isMarked(first.outcome())) {
                repeatOf(first, repeat);
            }
        }
        return open(repeats);
    }

    private void settle(ConsumerPlan consumer, Collection<BatchEntry<?>> firsts) {
        int isolated = context.isolation().limit(consumer.name());
        @Nullable Throwable outage = null;
        for (List<BatchEntry<?>> part : TransactionChunks.of(consumer.policy(), isolated, firsts)) {
            if (outage == null) {
                outage = runner.settle(consumer.policy(), part);
            } else {
                for (BatchEntry<?> entry : part) {
                    entry.fail(Failure.INFRASTRUCTURE, outage);
                }
            }
        }
    }

    private static boolean isMarked(Outcome<?> outcome) {
        return outcome instanceof Outcome.Processed
                || outcome instanceof Outcome.Stored
                || outcome instanceof Outcome.Duplicate
                || outcome instanceof Outcome.Conflict
                || (outcome instanceof Outcome.Rejected<?> rejected && rejected.reason() == Rejection.KEY_COLLISION);
    }

    /** The first left no marker: its twin shares its fate, but another payload is another message, and comes again. */
    private static void repeatOf(BatchEntry<?> first, BatchEntry<?> repeat) {
        boolean twin =
                Arrays.equals(first.request().fingerprint(), repeat.request().fingerprint());
        if (twin || first.outcome().settlement() == Settlement.RETRY) {
            repeat.settleLike(first);
        } else {
            repeat.settle(new Outcome.Busy<>());
        }
    }

    private static List<BatchEntry<?>> open(List<BatchEntry<?>> entries) {
        return entries.stream().filter(BatchEntry::isOpen).toList();
    }
}
