package dev.idem.cli.demo;

import dev.idem.Message;
import java.nio.charset.StandardCharsets;

/**
 * One delivery from the broker to a consumer; a line of text on the consumer's stdin.
 *
 * @param tag the broker's number of this delivery, new for each
 * @param workMillis how long the handler takes, apart from the database
 */
record Delivery(long tag, CrashWindow window, int workMillis, Trouble trouble, Payment payment) {
    static final String KNOBS = "demo-knobs";
    static final String TYPE = "payment-requested";

    String line() {
        return String.join(" ", knobs(), payment.id(), payment.order(), Long.toString(payment.cents()));
    }

    static Delivery parse(String line) {
        String[] parts = line.split(" ", -1);
        return new Delivery(
                Long.parseLong(parts[0]),
                CrashWindow.valueOf(parts[1]),
                Integer.parseInt(parts[2]),
                Trouble.valueOf(parts[3]),
                new Payment(parts[4], parts[5], Long.parseLong(parts[6])));
    }

    /** The payload is the payment alone: it must be equal in all copies. What this delivery suffers is in a header. */
    Message toMessage() {
        return Message.builder()
                .id(payment.id())
                .type(TYPE)
                .payload(payload())
                .header(KNOBS, knobs())
                .build();
    }

    static Delivery of(Message message) {
        return of(message.headers(KNOBS).get(0).text(), message.id().orElseThrow(), message.payload());
    }

    static Delivery of(String knobs, String id, byte[] payload) {
        return parse(String.join(" ", knobs, id, new String(payload, StandardCharsets.UTF_8)));
    }

    /** The same, but nothing waits for it to die. */
    Delivery withoutWindow() {
        return new Delivery(tag, CrashWindow.NONE, workMillis, trouble, payment);
    }

    byte[] payload() {
        return (payment.order() + " " + payment.cents()).getBytes(StandardCharsets.UTF_8);
    }

    String knobs() {
        return tag + " " + window + " " + workMillis + " " + trouble;
    }
}
