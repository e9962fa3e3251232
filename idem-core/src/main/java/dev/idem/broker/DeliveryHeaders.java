package dev.idem.broker;

import dev.idem.Header;
import dev.idem.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Headers by which an adapter tells the handler how a message came: where it was published to, and what the broker was asked to do
 * with it. No producer can write them, because headers that begin with {@code idem-} are taken off what arrives. They are kept
 * with stored messages, and are in dead letters and replays what they were at first. One that says nothing is left out.
 */
public final class DeliveryHeaders {
    /** The topic, of Kafka or of Jakarta Messaging. */
    public static final String TOPIC = "idem-topic";

    /** The queue it was taken from. */
    public static final String QUEUE = "idem-queue";

    /** The exchange of AMQP that it was published to; absent for the default exchange. */
    public static final String EXCHANGE = "idem-exchange";

    /** The routing key of AMQP. */
    public static final String ROUTING_KEY = "idem-routing-key";

    /** The priority, if the producer set one. */
    public static final String PRIORITY = "idem-priority";

    /** When the message expires, as RFC 3339 has it. */
    public static final String EXPIRES = "idem-expires";

    /** How many milliseconds it was to live in its queue: RabbitMQ counts from when it arrived there. */
    public static final String TIME_TO_LIVE = "idem-time-to-live";

    /** Stands for a record of Kafka without a value. */
    public static final String TOMBSTONE = "idem-tombstone";

    private static final Set<String> PLACES =
            Set.of(TOPIC, QUEUE, EXCHANGE, ROUTING_KEY, PRIORITY, EXPIRES, TIME_TO_LIVE);

    private DeliveryHeaders() {}

    /** Whether a header is one of these. */
    static boolean isOne(String name) {
        return PLACES.contains(name) || name.equals(TOMBSTONE);
    }

    /**
     * What the adapter says of a dead letter, with what the letter says of its message in place of what is about the letter.
     *
     * @param letter with all headers of ours
     */
    static List<Header> ofLetter(Message letter, List<Header> added) {
        List<Header> told = new ArrayList<>();
        for (Header header : added) {
            if (!header.name().equals(TOPIC)
                    && !header.name().equals(QUEUE)
                    && origin(letter, header.name()).isEmpty()) {
                told.add(header);
            }
        }
        for (String name : PLACES) {
            origin(letter, name).ifPresent(text -> told.add(new Header(name, text)));
        }
        return told;
    }

    private static Optional<String> origin(Message letter, String name) {
        return letter.header(DeadLetter.ORIGIN + name.substring(DeadLetter.PREFIX.length()))
                .filter(text -> !text.isEmpty());
    }
}
