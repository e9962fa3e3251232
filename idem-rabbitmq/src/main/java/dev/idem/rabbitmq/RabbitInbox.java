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
    private RabbitInbox() {}

    /** Listens with the defaults. The queue must exist. */
    public static RabbitListener listen(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
        return builder(factory, queue, consumer, inbox).listen();
    }

    /** The factory is copied; its recovery is not used, because the listener does that. */
    public static Builder builder(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
        return new Builder(factory, queue, consumer, inbox);
    }

    /** Collects what a listener has. Not thread-safe. */
    public static final class Builder {
        private final Options options;
        private final Consumer consumer;
        private final Inbox inbox;

        private Builder(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
            options = Options.defaults(factory, Objects.requireNonNull(queue, "queue"));
            this.consumer = Objects.requireNonNull(consumer, "consumer");
            this.inbox = Objects.requireNonNull(inbox, "inbox");
        }

        /** The nodes of a cluster, tried in turn; default the host of the factory. */
        public Builder addresses(List<Address> nodes) {
            options.addresses = List.copyOf(nodes);
            return this;
        }

        /** Where ids, types and other attributes come from; default {@link Attributes#defaults}. */
        public Builder attributes(Attributes value) {
            options.attributes = Objects.requireNonNull(value, "value");
            return this;
        }

        /** When a message whose handler failed comes again; default after 1 s, doubling up to 5 min, 10 times in all. */
        public Builder retry(RetryPolicy value) {
            options.retry = Objects.requireNonNull(value, "value");
            return this;
        }

        /** The queue of the dead letters; default {@code <queue>.dead-letters}. */
        public Builder deadLetters(String queue) {
            return deadLetters("", queue);
        }

        /** The exchange and routing key of the dead letters. An exchange is never declared here, and must route to a queue. */
        public Builder deadLetters(String exchange, String routingKey) {
            options.deadLetters = new Target(exchange, routingKey);
            return this;
        }

        /**
         * How long messages wait in retry queues, of which there is one for each: a message waits in the first that is not
         * shorter than its delay, or in the longest. Shorter delays than the first are waited for here. Default 1 s, 5 s, 15 s,
         * 1 min, 5 min; at least 100 ms each.
         */
        public Builder delays(Duration... values) {
            options.delays = Options.checkedDelays(values);
            return this;
        }

        /**
         * Retries wait here and hold back their ordering key, instead of leaving for a retry queue and coming back behind
         * younger messages. Failures are then forgotten when the connection is lost.
         */
        public Builder keepOrder() {
            options.delays = List.of();
            return this;
        }

        /** How many messages the broker sends ahead; default 250, from 1 to 10 000. All of them are in memory. */
        public Builder prefetch(int messages) {
            Options.checkBetween("prefetch", messages, 1, 10_000);
            options.prefetch = messages;
            return this;
        }

        /** How many handlers run side by side; default 1. Messages with the same ordering key stay in order. */
        public Builder parallelism(int lanes) {
            Options.checkBetween("parallelism", lanes, 1, 1_000);
            options.parallelism = lanes;
            return this;
        }

        /** How long {@link RabbitListener#close()} waits for running handlers; default 30 s. */
        public Builder drain(Duration longest) {
            options.drain = Objects.requireNonNull(longest, "longest");
            return this;
        }

        /**
         * How long a message may stay here unacknowledged, because the database is away, say; default 25 min. Then all that
         * waits is given back to the queue and comes again. Keep it below the broker's {@code consumer_timeout}, 30 min by
         * default, after which the broker closes the channel.
         */
        public Builder longestHold(Duration value) {
            if (value.compareTo(Duration.ofSeconds(1)) < 0) {
                throw new IllegalArgumentException("longestHold is " + value + ", but must be at least 1 s");
            }
            options.longestHold = value;
            return this;
        }

        /** Makes the threads of the listener; default daemon threads. */
        public Builder threads(ThreadFactory value) {
            options.threads = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Whether missing queues for dead letters and retries are declared; default true. Else they must exist. */
        public Builder declare(boolean value) {
            options.declare = value;
            return this;
        }

        /**
         * Starts to listen. A broker that does not answer is waited for.
         *
         * @throws dev.idem.IdemException if the broker answers and refuses: no such queue, no right to it, other credentials
         */
        public RabbitListener listen() {
            return RabbitListener.start(options.copy(), consumer, inbox);
        }
    }
}
