package dev.idem.jms;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.Attributes;
import jakarta.jms.ConnectionFactory;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;

/**
 * Listens to a queue of a Jakarta Messaging provider, and takes its messages through an inbox.
 *
 * <pre>{@code
 * JmsListener listener = JmsInbox.listen(connectionFactory, "orders", consumer, inbox);
 * }</pre>
 */
public final class JmsInbox {
    private JmsInbox() {}

    /** Starts to listen, with the defaults. */
    public static JmsListener listen(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
        return builder(factory, queue, consumer, inbox).listen();
    }

    public static Builder builder(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
        return new Builder(factory, queue, consumer, inbox);
    }

    /** Collects what a listener has. Not thread-safe. */
    public static final class Builder {
        private static final int MOST_MESSAGES = 1_000;

        final ConnectionFactory factory;
        final String queue;
        final Consumer consumer;
        final Inbox inbox;
        Attributes attributes = Attributes.defaults();
        RetryPolicy retry = RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofMinutes(5));
        String deadLetters;
        Acknowledging acknowledging = Acknowledging.TRANSACTED;
        int sessions = 1;
        int batch = 100;
        boolean keepsOrder;
        boolean idOfBroker;
        Duration drain = Duration.ofSeconds(20);
        ThreadFactory threads = Builder::daemon;

        private Builder(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
            this.factory = Objects.requireNonNull(factory, "factory");
            this.queue = Objects.requireNonNull(queue, "queue");
            this.consumer = Objects.requireNonNull(consumer, "consumer");
            this.inbox = Objects.requireNonNull(inbox, "inbox");
            if (consumer.isWatermark()) {
                throw new IllegalArgumentException("Consumer " + consumer.name()
                        + " has a watermark, but a queue has no positions: leave the watermark out");
            }
            deadLetters = queue + ".dead-letters";
        }

        private static Thread daemon(Runnable task) {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        }

        /** Where the attributes of a message come from. */
        public Builder attributes(Attributes value) {
            attributes = Objects.requireNonNull(value, "value");
            return this;
        }

        /** When a message whose handler failed comes again; default 1 s, doubled up to 5 min, jittered, 10 attempts. */
        public Builder retry(RetryPolicy value) {
            retry = Objects.requireNonNull(value, "value");
            return this;
        }

        /** The queue for dead letters; default the queue's name with {@code .dead-letters} behind it. */
        public Builder deadLetters(String name) {
            deadLetters = Objects.requireNonNull(name, "name");
            return this;
        }

        public Builder acknowledging(Acknowledging value) {
            acknowledging = Objects.requireNonNull(value, "value");
            return this;
        }

        /** How many sessions work side by side, each with a connection and a thread; default 1, which keeps the order. */
        public Builder sessions(int count) {
            sessions = checked("sessions", count);
            return this;
        }

        /** How many messages are taken at once, at most; default 100. */
        public Builder batch(int messages) {
            batch = checked("batch", messages);
            return this;
        }

        /**
         * Keeps a message that must come again, and those behind it that have its ordering key, in the session until they are
         * through. Without this a copy is sent to the queue for later, and the session goes on without it.
         */
        public Builder keepOrder() {
            keepsOrder = true;
            return this;
        }

        /**
         * Takes {@code JMSMessageID} for the id where the application has set none. It recognises what the broker delivers
         * again, but not what a producer or a bridge sends again: each copy has another one.
         */
        public Builder messageIdOfBroker() {
            idOfBroker = true;
            return this;
        }

        /** How long closing waits for handlers that are running; default 20 s. */
        public Builder drain(Duration longest) {
            drain = Objects.requireNonNull(longest, "longest");
            return this;
        }

        /** Makes the threads of the sessions. */
        public Builder threads(ThreadFactory factory) {
            threads = Objects.requireNonNull(factory, "factory");
            return this;
        }

        private static int checked(String name, int value) {
            if (value < 1 || value > MOST_MESSAGES) {
                throw new IllegalArgumentException(name + " is " + value + ", but must be 1 to " + MOST_MESSAGES);
            }
            return value;
        }

        /** Starts to listen. A broker that is not there yet is waited for. */
        public JmsListener listen() {
            return new JmsListener(this);
        }
    }
}
