package dev.idem.rabbitmq;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.Attributes;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;

/**
 * Brings the messages of a RabbitMQ queue to a consumer, so that each has its effect once. A message is acknowledged when
 * its effect is committed and not before, one by one, on the connection it came over; what cannot be done goes to the
 * dead letters, whose arrival the broker has confirmed.
 *
 * <pre>{@code
 * RabbitListener listener = RabbitInbox.listen(factory, "orders", consumer, inbox);
 * }</pre>
 */
public final class RabbitInbox {
    private final Options options;

    private RabbitInbox(Options options) {
        this.options = options;
    }

    /** Listens with the defaults. The queue must exist. */
    public static RabbitListener listen(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
        return of(factory, queue).listen(consumer, inbox);
    }

    /** Begins to say how to listen. The factory is copied; its recovery is not used, because the listener does that. */
    public static RabbitInbox of(ConnectionFactory factory, String queue) {
        return new RabbitInbox(Options.defaults(factory, Objects.requireNonNull(queue, "queue")));
    }

    /** The nodes of a cluster, tried in turn; default the host of the factory. */
    public RabbitInbox addresses(List<Address> nodes) {
        return with(o -> o.addresses = List.copyOf(nodes));
    }

    /** Where ids, types and other attributes come from; default {@link Attributes#defaults}. */
    public RabbitInbox attributes(Attributes value) {
        return with(o -> o.attributes = Objects.requireNonNull(value));
    }

    /** When a message whose handler failed comes again; default after 1 s, doubling up to 5 min, 10 times in all. */
    public RabbitInbox retry(RetryPolicy value) {
        return with(o -> o.retry = Objects.requireNonNull(value));
    }

    /** The queue of the dead letters; default {@code <queue>.dead-letters}. */
    public RabbitInbox deadLetters(String queue) {
        return deadLetters("", queue);
    }

    /** The exchange and routing key of the dead letters. An exchange is never declared here, and must route to a queue. */
    public RabbitInbox deadLetters(String exchange, String routingKey) {
        return with(o -> o.deadLetters = new Target(exchange, routingKey));
    }

    /**
     * How long messages wait in retry queues, of which there is one for each: a message waits in the first that is not
     * shorter than its delay, or in the longest. Shorter delays than the first are waited for here. Default 1 s, 5 s, 15 s,
     * 1 min, 5 min; at least 100 ms each.
     */
    public RabbitInbox delays(Duration... values) {
        return with(o -> o.delays = Options.checkedDelays(values));
    }

    /**
     * Retries wait here and hold back their ordering key, instead of leaving for a retry queue and coming back behind
     * younger messages. Failures are then forgotten when the connection is lost.
     */
    public RabbitInbox keepOrder() {
        return with(o -> o.delays = List.of());
    }

    /** How many messages the broker sends ahead; default 250, from 1 to 10 000. All of them are in memory. */
    public RabbitInbox prefetch(int messages) {
        Options.checkBetween("prefetch", messages, 1, 10_000);
        return with(o -> o.prefetch = messages);
    }

    /** How many handlers run side by side; default 1. Messages with the same ordering key stay in order. */
    public RabbitInbox parallelism(int lanes) {
        Options.checkBetween("parallelism", lanes, 1, 1_000);
        return with(o -> o.parallelism = lanes);
    }

    /** How long {@link RabbitListener#close()} waits for running handlers; default 30 s. */
    public RabbitInbox drain(Duration longest) {
        return with(o -> o.drain = Objects.requireNonNull(longest));
    }

    /**
     * How long a message may stay here unacknowledged, because the database is away, say; default 25 min. Then all that
     * waits is given back to the queue and comes again. Keep it below the broker's {@code consumer_timeout}, 30 min by
     * default, after which the broker closes the channel.
     */
    public RabbitInbox longestHold(Duration value) {
        if (value.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException("longestHold is " + value + ", but must be at least 1 s");
        }
        return with(o -> o.longestHold = value);
    }

    /** Makes the threads of the listener; default daemon threads. */
    public RabbitInbox threads(ThreadFactory value) {
        return with(o -> o.threads = Objects.requireNonNull(value));
    }

    /** Whether missing queues for dead letters and retries are declared; default true. Else they must exist. */
    public RabbitInbox declare(boolean value) {
        return with(o -> o.declare = value);
    }

    /**
     * Starts to listen. A broker that does not answer is waited for.
     *
     * @throws dev.idem.IdemException if the broker answers and refuses: no such queue, no right to it, other credentials
     */
    public RabbitListener listen(Consumer consumer, Inbox inbox) {
        return RabbitListener.start(options, consumer, inbox);
    }

    private RabbitInbox with(java.util.function.Consumer<Options> change) {
        Options copy = options.copy();
        change.accept(copy);
        return new RabbitInbox(copy);
    }
}
