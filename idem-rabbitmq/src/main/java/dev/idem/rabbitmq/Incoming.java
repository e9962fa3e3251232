package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Envelope;

/** A delivery as the broker's client has it, and the generation that alone may acknowledge it. */
final class Incoming {
    private final Session session;
    private final Envelope envelope;
    private final BasicProperties properties;
    private final byte[] body;

    Incoming(Session session, Envelope envelope, BasicProperties properties, byte[] body) {
        this.session = session;
        this.envelope = envelope;
        this.properties = properties;
        this.body = body;
    }

    Session session() {
        return session;
    }

    Envelope envelope() {
        return envelope;
    }

    BasicProperties properties() {
        return properties;
    }

    byte[] body() {
        return body;
    }

    /** False if it comes again whatever is done now. */
    boolean isHeld() {
        return session.holds(envelope.getDeliveryTag());
    }

    void acknowledge() {
        session.acknowledge(envelope.getDeliveryTag());
    }
}
