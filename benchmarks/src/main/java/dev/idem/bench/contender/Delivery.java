package dev.idem.bench.contender;

import dev.idem.Message;
import dev.idem.Position;

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
    static final String TYPE = "payment-requested";

    /** One that came from a broker, for the first time. */
    static Delivery of(String id, byte[] payload, int partition, long offset) {
        PaymentRequest request = PaymentRequest.decode(payload);
        return new Delivery(id, request.order(), request.cents(), true, request.failing(), partition, offset);
    }

    Message message() {
        return Message.builder()
                .id(id)
                .type(TYPE)
                .payload(request().payload())
                .position(new Position("payments", partition, offset))
                .build();
    }

    PaymentRequest request() {
        return new PaymentRequest(order, cents, failing);
    }
}
