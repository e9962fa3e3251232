package dev.idem.internal.consumer;

import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Position;
import dev.idem.Settlement;
import dev.idem.internal.key.Partition;
import dev.idem.internal.key.Placement;
import dev.idem.spi.StreamVersion;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Keeps the messages of one call in order: behind a message that must come again, no other one of the same lane may run,
 * for it would be overtaken. Used by one thread.
 */
public final class Order {
    private static final Set<Settlement> NONE = Set.of();
    private static final Set<Settlement> MUST_COME_AGAIN = Set.of(Settlement.RETRY);
    private static final Set<Settlement> NOT_DONE = Set.copyOf(EnumSet.complementOf(EnumSet.of(Settlement.ACK)));

    private final Function<Message, ? extends Optional<?>> lanes;
    private final Rank ranks;
    private final Set<Settlement> blocking;
    private final Map<Object, Long> firstBlocked = new HashMap<>();

    private Order(Function<Message, ? extends Optional<?>> lanes, Rank ranks, Set<Settlement> blocking) {
        this.lanes = lanes;
        this.ranks = ranks;
        this.blocking = blocking;
    }

    /** The order of a consumer's messages that come in one call. */
    public static Order of(ConsumerPlan consumer) {
        return consumer.isSequenced() ? byVersion(consumer.sequence().orElseThrow()) : byKey();
    }

    /** Any message may overtake any other. */
    public static Order none() {
        return new Order(message -> Optional.empty(), Order::arrival, NONE);
    }

    /** Messages with the same ordering key, in the order of the call. */
    static Order byKey() {
        return new Order(Message::orderingKey, Order::arrival, MUST_COME_AGAIN);
    }

    /** As above, but also behind a message that is set aside the others wait. */
    public static Order byKeyUntilDone() {
        return new Order(Message::orderingKey, Order::arrival, NOT_DONE);
    }

    /**
     * Messages of the same stream, in the order of their versions, whatever the order of the call: nothing may stay of a
     * version behind one that was not applied.
     */
    public static Order byVersion(SequencePlan sequence) {
        Function<Message, Optional<StreamVersion>> places = message ->
                sequence.place(message) instanceof Placement.At at ? Optional.of(at.place()) : Optional.empty();
        return new Order(
                message -> places.apply(message).map(StreamVersion::stream),
                (message, index) ->
                        places.apply(message).map(StreamVersion::version).orElse(Long.MAX_VALUE),
                NOT_DONE);
    }

    /**
     * Messages of the same partition, in the order of their positions. Also a message that is set aside blocks the others,
     * until it was set aside: the mark must not pass it before.
     */
    public static Order byPosition(Function<Message, Optional<Position>> places) {
        return new Order(
                message -> places.apply(message).map(Partition::of),
                (message, index) -> message.position().map(Position::offset).orElse(Long.MAX_VALUE),
                NOT_DONE);
    }

    private static long arrival(Message message, int index) {
        return index;
    }

    private Optional<?> lane(Message message) {
        return lanes.apply(message);
    }

    public void settled(Message message, int index, Outcome<?> outcome) {
        if (blocking.contains(outcome.settlement())) {
            lane(message).ifPresent(lane -> block(lane, ranks.of(message, index)));
        }
    }

    /** Blocks everything of a lane behind a rank. */
    public void block(Object lane, long rank) {
        firstBlocked.merge(lane, rank, Math::min);
    }

    public boolean isBlocked(Message message, int index) {
        return !firstBlocked.isEmpty()
                && lane(message)
                        .filter(lane -> firstBlocked.getOrDefault(lane, Long.MAX_VALUE) < ranks.of(message, index))
                        .isPresent();
    }

    /** Where in its lane a message stands. */
    @FunctionalInterface
    private interface Rank {
        long of(Message message, int index);
    }
}
