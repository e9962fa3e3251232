package dev.idem;

/** A partition of one stream. */
record Partition(String stream, int number) {
    static Partition of(Position position) {
        return new Partition(position.stream(), position.partition());
    }
}
