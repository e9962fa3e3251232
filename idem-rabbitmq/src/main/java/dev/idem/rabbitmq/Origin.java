package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.Envelope;
import dev.idem.Header;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Where a message was first published to, and how long it was to live, on the copies that are made of it: they come over the default
 * exchange and do not expire. Believed on dead letters, and on other copies under the seal. Stateless.
 */
final class Origin {
    private static final String PREFIX = "idem-origin-";
    private static final String EXCHANGE = "exchange";
    private static final String ROUTING_KEY = "routing-key";
    private static final String TIME_TO_LIVE = "time-to-live";

    private static final List<String> PARTS = List.of(EXCHANGE, ROUTING_KEY, TIME_TO_LIVE);

    /** The headers that a seal is made over. */
    private static final Set<String> SEALED =
            Set.of(Tables.FAILURES, PREFIX + EXCHANGE, PREFIX + ROUTING_KEY, PREFIX + TIME_TO_LIVE);

    private Origin() {}

    static boolean isSealed(String header) {
        return SEALED.contains(header);
    }

    /** Whether a message that is sent again keeps this header of its letter. */
    static boolean isKept(String header) {
        return header.equals(Tables.SEAL) || (isSealed(header) && !header.equals(Tables.FAILURES));
    }

    /** In the words of a letter. */
    static Map<String, String> of(Incoming delivery) {
        Map<String, String> origin = new LinkedHashMap<>();
        Envelope envelope = delivery.envelope();
        origin.put(EXCHANGE, delivery.ours(PREFIX + EXCHANGE).orElse(envelope.getExchange()));
        origin.put(ROUTING_KEY, delivery.ours(PREFIX + ROUTING_KEY).orElse(envelope.getRoutingKey()));
        delivery.ours(PREFIX + TIME_TO_LIVE)
                .or(() -> Optional.ofNullable(delivery.properties().getExpiration()))
                .ifPresent(millis -> origin.put(TIME_TO_LIVE, millis));
        return origin;
    }

    /** The same as headers, for a seal. */
    static List<Header> headers(Map<String, String> origin) {
        List<Header> headers = new ArrayList<>();
        for (String part : PARTS) {
            Optional.ofNullable(origin.get(part)).ifPresent(text -> headers.add(new Header(PREFIX + part, text)));
        }
        return headers;
    }

    /** The delivery as it was at first, for whoever reads attributes by its exchange or routing key. */
    static Delivery restored(Delivery copy, Function<String, Optional<String>> ours) {
        Envelope envelope = copy.getEnvelope();
        Optional<String> key = ours.apply(PREFIX + ROUTING_KEY);
        if (key.isEmpty()) {
            return copy;
        }
        BasicProperties properties = copy.getProperties();
        return new Delivery(
                new Envelope(
                        envelope.getDeliveryTag(),
                        envelope.isRedeliver(),
                        ours.apply(PREFIX + EXCHANGE).orElse(envelope.getExchange()),
                        key.get()),
                properties
                        .builder()
                        .expiration(ours.apply(PREFIX + TIME_TO_LIVE).orElse(properties.getExpiration()))
                        .build(),
                copy.getBody());
    }
}
