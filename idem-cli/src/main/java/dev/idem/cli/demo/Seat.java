package dev.idem.cli.demo;

/** A consumer's way of taking a delivery. Called by several threads at once. */
interface Seat extends AutoCloseable {
    /** Takes the delivery and says what to tell the broker. */
    Answer.Settled take(Delivery delivery);

    @Override
    default void close() {}
}
