package dev.idem.bench.contender;

/**
 * One delivery of a payment request.
 *
 * @param id the message's id, a UUID as text
 * @param order which order is paid: one for each message, and no key of the payment table
 * @param fresh whether it is the first delivery of this id
 * @param failing whether its handler throws after it has written
 * @param offset its place in its partition
 */
public record Delivery(
        String id, String order, long cents, boolean fresh, boolean failing, int partition, long offset) {
    /** What the broker would carry. */
    String payload() {
        return order + " " + cents;
    }
}
