package dev.idem.internal.key;

import dev.idem.Position;
import dev.idem.Selection;
import dev.idem.spi.MarkerKey;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Keys for messages whose position alone tells what is done. Nothing is stored under such a key, so a partition is hashed
 * once, and not each of its messages. Thread-safe.
 */
public final class PositionKeys {
    private static final String ANY_OFFSET = Long.toString(Long.MIN_VALUE); // none is longer

    private final String consumer;
    private volatile @Nullable Lane last;

    public PositionKeys(String consumer) {
        this.consumer = consumer;
    }

    /** Null when the stream has a name that cannot be part of a key. */
    @Nullable
    public Keyed of(Position position) {
        Lane lane = last;
        if (lane == null || !lane.has(position)) {
            lane = lane(position);
            last = lane;
        }
        return lane.usable ? new Keyed.Key(lane.key(consumer, position.offset()), null) : null;
    }

    private Lane lane(Position position) {
        List<String> ids = List.of(position.stream(), Integer.toString(position.partition()));
        boolean usable = Selection.of(List.of(ids.get(0), ids.get(1), ANY_OFFSET)) instanceof Selection.Parts;
        if (!usable) {
            return new Lane(position.stream(), position.partition(), 0, "", false);
        }
        MarkerKey key = KeyEncoding.encode(consumer, new Selection.Parts(null, null, ids))
                .key();
        long hash = key.value().getMostSignificantBits()
                ^ Long.rotateLeft(key.value().getLeastSignificantBits(), 32);
        return new Lane(position.stream(), position.partition(), hash, key.readable() + "/id=", true);
    }

    private record Lane(String stream, int partition, long hash, String readable, boolean usable) {
        boolean has(Position position) {
            return partition == position.partition() && stream.equals(position.stream());
        }

        MarkerKey key(String consumer, long offset) {
            return new MarkerKey(consumer, new UUID(hash, offset), readable + offset);
        }
    }
}
