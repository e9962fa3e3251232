package dev.idem.bench.contender;

import dev.idem.Message;
import java.nio.charset.StandardCharsets;

/**
 * What a message asks for, as its payload carries it.
 *
 * @param failing whether the handler throws after it has written
 */
record PaymentRequest(String order, long cents, boolean failing) {
    byte[] payload() {
        return (order + " " + cents + (failing ? " fail" : "")).getBytes(StandardCharsets.UTF_8);
    }

    static PaymentRequest decode(Message message) {
        return decode(message.payload());
    }

    static PaymentRequest decode(byte[] payload) {
        String[] parts = new String(payload, StandardCharsets.UTF_8).split(" ", -1);
        return new PaymentRequest(parts[0], Long.parseLong(parts[1]), parts.length > 2);
    }
}
