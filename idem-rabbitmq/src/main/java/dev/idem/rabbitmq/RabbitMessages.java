package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Delivery;
import dev.idem.Message;
import dev.idem.broker.Attributes;
import dev.idem.broker.MessageReader;
import java.util.Date;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes messages of what the client of RabbitMQ delivers: for {@link RabbitInbox}, and for a consumer of your own. Never
 * refuses a delivery: a message without an id is for the consumer's policy. Stateless.
 *
 * <pre>{@code
 * RabbitInbox.builder(factory, "orders", billing, inbox)
 *         .messages(RabbitMessages.reader().idFrom(delivery -> delivery.getProperties().getCorrelationId()))
 * }</pre>
 */
public final class RabbitMessages {
    static final String ORDERING_KEY = "ordering-key";

    private RabbitMessages() {}

    /**
     * The reader that listeners have by default. It shares the array of the body with the message: nobody may change it
     * afterwards.
     */
    public static MessageReader<Delivery> reader() {
        return MessageReader.of(RabbitMessages::open);
    }

    private static MessageReader.Delivered open(Delivery delivery) {
        BasicProperties properties = delivery.getProperties();
        Message raw = Message.builder()
                .sharedPayload(delivery.getBody())
                .contentType(properties.getContentType())
                .headers(Tables.headers(properties))
                .build();
        return new MessageReader.Delivered(
                raw,
                new Attributes.Broker(
                        properties.getMessageId(),
                        properties.getType(),
                        raw.header(ORDERING_KEY).orElse(null),
                        Optional.<@Nullable Date>ofNullable(properties.getTimestamp())
                                .map(Date::toInstant)
                                .orElse(null)));
    }
}
