package dev.idem.internal.key;

import dev.idem.Position;

/** A partition of one stream. */
public record Partition(String stream, int number) {
    public static Partition of(Position position) {
        return new Partition(position.stream(), position.partition());
    }
}
