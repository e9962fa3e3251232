package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.Envelope;
import dev.idem.Header;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A delivery as the broker's client has it, and the generation that alone may acknowledge it. */
final class Incoming {
    private final Session session;
    private final Delivery delivery;
    private final List<Header> ours;
    private @Nullable String letter;

    /** @param ours headers that this library wrote, as the seal has proven */
    Incoming(Session session, Delivery delivery, List<Header> ours) {
        this.session = session;
        this.delivery = delivery;
        this.ours = ours;
    }

    Session session() {
        return session;
    }

    Envelope envelope() {
        return delivery.getEnvelope();
    }

    BasicProperties properties() {
        return delivery.getProperties();
    }

    byte[] body() {
        return delivery.getBody();
    }

    /** What its dead letter is called; the same however often that is published. */
    synchronized String letter() {
        if (letter == null) {
            letter = UUID.randomUUID().toString();
        }
        return letter;
    }

    /** A header that this library wrote on an earlier copy of the message. */
    Optional<String> ours(String name) {
        return ours.stream()
                .filter(header -> header.name().equals(name))
                .map(Header::text)
                .findFirst();
    }

    /** How often the handler has failed before. */
    int failures() {
        try {
            return Math.max(0, ours(Tables.FAILURES).map(Integer::parseInt).orElse(0));
        } catch (NumberFormatException malformed) {
            return 0;
        }
    }

    /** False if it comes again whatever is done now. */
    boolean isHeld() {
        return session.holds(envelope().getDeliveryTag());
    }

    void acknowledge() {
        session.acknowledge(envelope().getDeliveryTag());
    }
}
