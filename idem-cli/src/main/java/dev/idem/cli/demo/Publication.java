package dev.idem.cli.demo;

/**
 * A message as published: a payment is published once or, by mistake, more often.
 *
 * @param number unique in a plan
 * @param position where in the stream it is delivered; the lower comes first
 * @param copy 0 for the first publication of its payment
 * @param ackLost whether its first acknowledgement never reaches the broker
 */
record Publication(
        int number, Payment payment, int position, int copy, int workMillis, boolean ackLost, Trouble trouble) {
    Publication with(Trouble other) {
        return new Publication(number, payment, position, copy, workMillis, ackLost, other);
    }
}
