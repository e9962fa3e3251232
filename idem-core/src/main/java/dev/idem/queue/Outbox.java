package dev.idem.queue;

import dev.idem.Consumer;
import dev.idem.Policy;
import dev.idem.Transaction;
import java.util.Objects;

/**
 * A destination of messages that handlers publish. What {@link Transaction#publish} is given is written in the handler's own
 * transaction, so it is published if and only if the handler's effect is there; and a relay, in this process or another,
 * gives it to a broker, or to whatever else the relay's handler talks to. An outbox is a queue like any other: claimed in
 * order, retried, parked, counted and operated as that of a {@linkplain Consumer.Builder#queued queued} consumer, under the
 * name {@code outbox:<name>}. Immutable and thread-safe.
 *
 * <pre>{@code
 * Outbox shipments = Outbox.named("shipments");
 * Consumer orders = Consumer.named("orders").publishesTo(shipments)...
 * inbox.start(Relay.of(shipments, KafkaPublisher.to("shipments", config)));
 * }</pre>
 *
 * <p>Every process must name and order it alike. A message may be published more than once, always with the same id: the
 * receiver's inbox recognises it.
 */
public final class Outbox {
    /** The id of the message whose handler published this one. */
    public static final String CAUSATION_ID = "idem-causation-id";

    /** What everything that began with one message has in common: the id of that first one, unless somebody chose another. */
    public static final String CORRELATION_ID = "idem-correlation-id";

    private static final String PREFIX = "outbox:";
    private static final int DEFAULT_MAX_BYTES = 4 << 20;

    private final String name;
    private final boolean ordered;
    private final int maxBytes;

    private Outbox(String name, boolean ordered, int maxBytes) {
        this.name = Objects.requireNonNull(name, "name");
        this.ordered = ordered;
        this.maxBytes = maxBytes;
    }

    /** Messages of one ordering key are published in the order of the commits that published them. */
    public static Outbox named(String name) {
        Consumer.of(PREFIX + name); // refuses what is no name
        return new Outbox(name, true, DEFAULT_MAX_BYTES);
    }

    /** Any message may overtake any other, also of its ordering key. A little faster. */
    public Outbox unordered() {
        return new Outbox(name, false, maxBytes);
    }

    /**
     * How large a message may be; default 4 MiB. A larger one fails its handler. What counts is the payload and the headers, each
     * with its name, its value and 64 bytes for what it costs beside them.
     */
    public Outbox withMaxBytes(int value) {
        if (value < 1) {
            throw new IllegalArgumentException("maxBytes is " + value + ", but must be positive");
        }
        return new Outbox(name, ordered, value);
    }

    public String name() {
        return name;
    }

    public boolean isOrdered() {
        return ordered;
    }

    public int maxBytes() {
        return maxBytes;
    }

    /** Whether a consumer of that name takes messages out of an outbox. */
    public static boolean isRelay(String consumer) {
        return consumer.startsWith(PREFIX);
    }

    /** The name of the consumer that relays it: under it the queue is found, counted and operated. */
    public String consumer() {
        return PREFIX + name;
    }

    /**
     * The consumer that takes messages out of this outbox, to be given a handler and started. For a broker take
     * {@code dev.idem.broker.Relay}; this is for a sender of your own, of mails, say: the handler's transaction then only
     * completes the message, and what it sends may be sent again after a crash, so give the receiver the message's id.
     *
     * @param policy {@code leased} for slow calls; its order is this outbox's
     */
    public Consumer.Builder relay(QueuePolicy policy) {
        if (policy.isOrdered() && !ordered) {
            throw new IllegalArgumentException(
                    "The outbox " + name + " is unordered, but its relay wants order by key");
        }
        return Consumer.named(consumer())
                .queued(ordered ? policy.withOrderByKey() : policy)
                .policy(Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.ALLOW));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Outbox that
                && name.equals(that.name)
                && ordered == that.ordered
                && maxBytes == that.maxBytes;
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return "Outbox[" + name + (ordered ? "" : ", unordered") + "]";
    }
}
