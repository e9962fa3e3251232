package dev.idem.internal.batch;

import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Position;
import dev.idem.Settlement;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.Order;
import dev.idem.internal.key.Partition;
import dev.idem.internal.unit.InboxContext;
import dev.idem.spi.Batch;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.PositionRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The door for consumers that remember positions. A mark says that everything up to it is done, so nothing may be applied
 * behind a message that is not: not in one call, for which {@link Order} cares, and not in the next one, for which this
 * remembers where each partition stopped. Another process need not know: it begins at what the broker has acknowledged,
 * which never lies behind a message that must come again.
 */
public final class WatermarkProcessor {
    private final MarkerStore.Positioned store;
    private final BatchProcessor batches;
    private final ConcurrentMap<Stop, Long> stopped = new ConcurrentHashMap<>();

    public WatermarkProcessor(InboxContext context, MarkerStore.Positioned store) {
        this.store = store;
        this.batches = new BatchProcessor(context, new BatchRunner(context, this::claim));
    }

    private Batch claim(List<BatchEntry<?>> entries) {
        List<PositionRequest> requests = new ArrayList<>(entries.size());
        for (BatchEntry<?> entry : entries) {
            requests.add(new PositionRequest(
                    entry.key(),
                    entry.attempt().consumer().placeOf(entry.message()).orElseThrow(),
                    entry.attempt().policy().busyWait()));
        }
        return store.claimPositions(requests);
    }

    public List<Outcome<?>> acceptAll(ConsumerPlan consumer, List<Message> messages) {
        if (isInOrder(messages)) { // as brokers deliver them
            return inOrder(consumer, messages);
        }
        List<Integer> byPosition = new ArrayList<>();
        for (int i = 0; i < messages.size(); i++) {
            byPosition.add(i);
        }
        byPosition.sort(Comparator.comparing(i -> rank(messages.get(i))));
        List<Outcome<?>> outcomes =
                inOrder(consumer, byPosition.stream().map(messages::get).toList());
        Outcome<?>[] asGiven = new Outcome<?>[messages.size()];
        for (int i = 0; i < asGiven.length; i++) {
            asGiven[byPosition.get(i)] = outcomes.get(i);
        }
        return List.of(asGiven);
    }

    /** What stopped before it was settled elsewhere, and does not come again. */
    public void settledBefore(ConsumerPlan consumer, Position position) {
        stopped.computeIfPresent(
                new Stop(consumer.name(), Partition.of(position)), (stop, at) -> at < position.offset() ? null : at);
    }

    private static boolean isInOrder(List<Message> messages) {
        long last = Long.MIN_VALUE;
        for (Message message : messages) {
            long rank = rank(message);
            if (rank < last) {
                return false;
            }
            last = rank;
        }
        return true;
    }

    private List<Outcome<?>> inOrder(ConsumerPlan consumer, List<Message> sorted) {
        Order order = Order.byPosition(consumer::placeOf);
        blockWhatStopped(consumer, sorted, order);
        List<Outcome<?>> outcomes = batches.acceptAll(consumer, sorted, order);
        remember(consumer, sorted, outcomes);
        return outcomes;
    }

    private static long rank(Message message) {
        Position position = message.position().orElse(null);
        return position == null ? Long.MAX_VALUE : position.offset();
    }

    /** A partition that stopped goes on with the message it stopped at, or when somebody else has passed it. */
    private void blockWhatStopped(ConsumerPlan consumer, List<Message> sorted, Order order) {
        if (stopped.isEmpty()) {
            return;
        }
        Map<Partition, Position> lowest = new HashMap<>();
        for (Message message : sorted) {
            consumer.placeOf(message).ifPresent(position -> lowest.putIfAbsent(Partition.of(position), position));
        }
        lowest.forEach((partition, position) -> {
            Stop stop = new Stop(consumer.name(), partition);
            Long at = stopped.get(stop);
            if (at != null && position.offset() > at) {
                OptionalLong mark = store.markOf(consumer.name(), position);
                if (mark.isPresent() && mark.getAsLong() >= at) {
                    stopped.remove(stop);
                } else {
                    order.block(partition, at);
                }
            }
        });
    }

    private void remember(ConsumerPlan consumer, List<Message> sorted, List<Outcome<?>> outcomes) {
        if (stopped.isEmpty() && outcomes.stream().noneMatch(outcome -> outcome.settlement() == Settlement.RETRY)) {
            return;
        }
        Map<Partition, Long> stops = new HashMap<>();
        for (int i = 0; i < sorted.size(); i++) {
            Position position = consumer.placeOf(sorted.get(i)).orElse(null);
            if (position == null) {
                continue;
            }
            long stop = outcomes.get(i).settlement() == Settlement.RETRY ? position.offset() : Long.MAX_VALUE;
            stops.merge(Partition.of(position), stop, Math::min);
        }
        stops.forEach((partition, at) -> {
            Stop stop = new Stop(consumer.name(), partition);
            if (at == Long.MAX_VALUE) {
                stopped.remove(stop);
            } else {
                stopped.merge(stop, at, Math::min);
            }
        });
    }

    private record Stop(String consumer, Partition partition) {}
}
