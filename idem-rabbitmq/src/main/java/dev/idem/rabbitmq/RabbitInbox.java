package dev.idem.rabbitmq;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.broker.spi.ListenerBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

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

    /** Listens with the defaults. A queue that does not exist yet is waited for. */
    public static RabbitInboxListener listen(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
        return builder(factory, queue, consumer, inbox).listen();
    }

    /** The factory is copied; its recovery is not used, because the listener does that. */
    public static Builder builder(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
        return new Builder(factory, queue, consumer, inbox);
    }

    /** Collects what a listener has. Not thread-safe. */
    public static final class Builder extends ListenerBuilder<Builder, Delivery> {
        private final ConnectionFactory factory;
        private final String queue;
        private List<Address> addresses = List.of();
        private Target deadLetters;
        private List<Duration> delays =
                Stream.of(1, 5, 15, 60).map(Duration::ofSeconds).toList();
        private int prefetch = 250;
        private Duration longestHold = Duration.ofMinutes(25);
        private boolean declare = true;
        private String streamName;
        private long streamFrom;

        private Builder(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
            super(RabbitMessages.reader(), consumer, inbox);
            this.factory = Objects.requireNonNull(factory, "factory").clone();
            this.queue = Objects.requireNonNull(queue, "queue");
            deadLetters = Target.queue(queue + ".dead-letters");
            streamName = "rabbitmq/" + this.factory.getVirtualHost() + "/" + queue;
        }

        @Override
        protected Builder self() {
            return this;
        }

        /** The nodes of a cluster, tried in turn; default the host of the factory. */
        public Builder addresses(List<Address> nodes) {
            addresses = List.copyOf(nodes);
            return this;
        }

        /** The queue of the dead letters; default {@code <queue>.dead-letters}. */
        public Builder deadLetters(String name) {
            return deadLetters("", name);
        }

        /** The exchange and routing key of the dead letters. An exchange is never declared here, and must route to a queue. */
        public Builder deadLetters(String exchange, String routingKey) {
            deadLetters = new Target(
                    Objects.requireNonNull(exchange, "exchange"), Objects.requireNonNull(routingKey, "routingKey"));
            return this;
        }

        /**
         * How long messages wait in retry queues, of which there is one for each: a message waits in the first that is not
         * shorter than its delay, or in the longest. Shorter delays than the first are waited for here. Default 1 s, 5 s, 15 s,
         * 1 min; at least 100 ms each.
         */
        public Builder delays(Duration... values) {
            delays = Options.checkedDelays(values);
            return this;
        }

        /**
         * Retries wait here and hold back their ordering key, instead of leaving for a retry queue and coming back behind
         * younger messages. Failures are then forgotten when the connection is lost.
         */
        public Builder keepOrder() {
            delays = List.of();
            return this;
        }

        /**
         * How many messages the broker sends ahead at most; default 250, from 1 to 10 000. All of them are in memory, so
         * {@link #maxPending} and {@link #maxPendingBytes} bound it too: it begins with one for each MiB of these bytes, and
         * follows the size of the messages that come.
         */
        public Builder prefetch(int messages) {
            Options.checkBetween("prefetch", messages, 1, 10_000);
            prefetch = messages;
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
            longestHold = value;
            return this;
        }

        /** Whether missing queues for dead letters and retries are declared; default true. Else they must exist. */
        public Builder declare(boolean value) {
            declare = value;
            return this;
        }

        /**
         * The name of a stream in the watermarks of its consumer; default {@code rabbitmq/<vhost>/<queue>}. The broker does not
         * tell when a stream was deleted and made again, and offsets then begin again: choose another name.
         */
        public Builder streamName(String value) {
            streamName = Objects.requireNonNull(value, "value");
            return this;
        }

        /** The offset of a stream at which a consumer begins that has no watermark yet; default 0, the first message. */
        public Builder streamFrom(long offset) {
            if (offset < 0) {
                throw new IllegalArgumentException("streamFrom is " + offset + ", but must not be negative");
            }
            streamFrom = offset;
            return this;
        }

        /**
         * Starts to listen, and does not wait for the broker. A broker that does not answer or refuses, and a queue that is not
         * there, are waited for: {@link RabbitInboxListener#waiting} tells it in the broker's own words.
         *
         * @throws IllegalArgumentException if the options contradict each other
         */
        public RabbitInboxListener listen() {
            Options options = new Options(
                    factory,
                    queue,
                    options(),
                    addresses,
                    deadLetters,
                    consumer().isWatermark() ? List.of() : delays, // what is in a stream stays there, in its order
                    prefetch,
                    longestHold,
                    declare,
                    streamName,
                    streamFrom);
            Advice.early(options, consumer());
            return new RabbitInboxListener(
                    () -> RabbitRun.start(options, consumer(), inbox()),
                    options.common().drain());
        }
    }
}
