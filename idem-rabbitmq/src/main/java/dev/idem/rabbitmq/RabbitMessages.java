package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.Envelope;
import dev.idem.Header;
import dev.idem.Message;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.MessageReader;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Objects;
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
                                .orElse(null),
                        properties.getCorrelationId()),
                added(delivery.getEnvelope(), properties));
    }

    /** How it came. */
    private static List<Header> added(Envelope envelope, BasicProperties properties) {
        List<Header> added = new ArrayList<>();
        add(DeliveryHeaders.EXCHANGE, envelope.getExchange(), added);
        add(DeliveryHeaders.ROUTING_KEY, envelope.getRoutingKey(), added);
        add(DeliveryHeaders.PRIORITY, properties.getPriority(), added);
        add(DeliveryHeaders.TIME_TO_LIVE, properties.getExpiration(), added);
        return added;
    }

    private static void add(String name, @Nullable Object value, List<Header> added) {
        String text = Objects.toString(value, "");
        if (!text.isEmpty()) {
            added.add(new Header(name, text));
        }
    }
}
