package dev.idem;

import dev.idem.spi.StreamVersion;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Keeps the messages of one call in order: behind a message that must come again, no other one of the same lane may run,
 * for it would be overtaken. Used by one thread.
 */
abstract class Order {
    private final Map<Object, Long> firstBlocked = new HashMap<>();

    /** Messages with the same ordering key, in the order of the call. */
    static Order byKey() {
        return new Order() {
            @Override
            Optional<?> lane(Message message) {
                return message.orderingKey();
            }

            @Override
            long rank(Message message, int index) {
                return index;
            }

            @Override
            boolean blocks(Settlement settlement) {
                return settlement == Settlement.RETRY;
            }
        };
    }

    /** As above, but also behind a message that is set aside the others wait. */
    static Order byKeyUntilDone() {
        return new Order() {
            @Override
            Optional<?> lane(Message message) {
                return message.orderingKey();
            }

            @Override
            long rank(Message message, int index) {
                return index;
            }

            @Override
            boolean blocks(Settlement settlement) {
                return settlement != Settlement.ACK;
            }
        };
    }

    /**
     * Messages of the same stream, in the order of their versions, whatever the order of the call: nothing may stay of a
     * version behind one that was not applied.
     */
    static Order byVersion(Sequence sequence) {
        return new Order() {
            @Override
            Optional<?> lane(Message message) {
                return place(message).map(StreamVersion::stream);
            }

            @Override
            long rank(Message message, int index) {
                return place(message).map(StreamVersion::version).orElse(Long.MAX_VALUE);
            }

            @Override
            boolean blocks(Settlement settlement) {
                return settlement != Settlement.ACK;
            }

            private Optional<StreamVersion> place(Message message) {
                return sequence.place(message) instanceof Sequence.Placement.At at
                        ? Optional.of(at.place())
                        : Optional.empty();
            }
        };
    }

    /** The order of a consumer's messages that come in one call. */
    static Order of(Consumer consumer) {
        return consumer.isSequenced() ? byVersion(consumer.sequence().orElseThrow()) : byKey();
    }

    /** Any message may overtake any other. */
    static Order none() {
        return new Order() {
            @Override
            Optional<?> lane(Message message) {
                return Optional.empty();
            }

            @Override
            long rank(Message message, int index) {
                return index;
            }

            @Override
            boolean blocks(Settlement settlement) {
                return false;
            }
        };
    }

    /**
     * Messages of the same partition, in the order of their positions. Also a message that is set aside blocks the others,
     * until it was set aside: the mark must not pass it before.
     */
    static Order byPosition(Function<Message, Optional<Position>> places) {
        return new Order() {
            @Override
            Optional<?> lane(Message message) {
                return places.apply(message).map(Partition::of);
            }

            @Override
            long rank(Message message, int index) {
                return message.position().map(Position::offset).orElse(Long.MAX_VALUE);
            }

            @Override
            boolean blocks(Settlement settlement) {
                return settlement != Settlement.ACK;
            }
        };
    }

    abstract Optional<?> lane(Message message);

    abstract long rank(Message message, int index);

    abstract boolean blocks(Settlement settlement);

    void settled(Message message, int index, Outcome<?> outcome) {
        if (blocks(outcome.settlement())) {
            lane(message).ifPresent(lane -> firstBlocked.merge(lane, rank(message, index), Math::min));
        }
    }

    /** Blocks everything of a lane behind a rank. */
    void block(Object lane, long rank) {
        firstBlocked.merge(lane, rank, Math::min);
    }

    boolean isBlocked(Message message, int index) {
        return !firstBlocked.isEmpty()
                && lane(message)
                        .filter(lane -> firstBlocked.getOrDefault(lane, Long.MAX_VALUE) < rank(message, index))
                        .isPresent();
    }
}
