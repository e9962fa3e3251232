package dev.idem.jms;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.broker.spi.ListenerBuilder;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.Message;
import java.util.Objects;

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
    public static JmsInboxListener listen(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
        return builder(factory, queue, consumer, inbox).listen();
    }

    public static Builder builder(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
        return new Builder(factory, queue, consumer, inbox);
    }

    /** Collects what a listener has. Not thread-safe. */
    public static final class Builder extends ListenerBuilder<Builder, Message> {
        private static final int MOST_MESSAGES = 1_000;

        private final ConnectionFactory factory;
        private final String queue;
        private String deadLetters;
        private Acknowledging acknowledging = Acknowledging.TRANSACTED;
        private int batch = 100;
        private boolean keepsOrder;
        private boolean idOfBroker;

        private Builder(ConnectionFactory factory, String queue, Consumer consumer, Inbox inbox) {
            super(JmsMessages.reader(), consumer, inbox);
            this.factory = Objects.requireNonNull(factory, "factory");
            this.queue = named("queue", queue);
            if (consumer.isWatermark()) {
                throw new IllegalArgumentException("Consumer " + consumer.name()
                        + " has a watermark, but a queue has no positions: leave the watermark out");
            }
            deadLetters = queue + ".dead-letters";
        }

        private static String named(String what, String name) {
            if (name.isBlank()) {
                throw new IllegalArgumentException("The name of the " + what + " is empty");
            }
            return name;
        }

        @Override
        protected Builder self() {
            return this;
        }

        /** The queue for dead letters; default the queue's name with {@code .dead-letters} behind it. */
        public Builder deadLetters(String name) {
            deadLetters = named("queue for dead letters", name);
            return this;
        }

        public Builder acknowledging(Acknowledging value) {
            acknowledging = Objects.requireNonNull(value, "value");
            return this;
        }

        /** How many messages are received at once, at most: those of one transaction. Default 100. */
        public Builder batch(int messages) {
            if (messages < 1 || messages > MOST_MESSAGES) {
                throw new IllegalArgumentException("batch is " + messages + ", but must be 1 to " + MOST_MESSAGES);
            }
            batch = messages;
            return this;
        }

        /**
         * Keeps a message that must come again, and those behind it that have its ordering key, in memory until they are
         * through. Without this a copy is sent to the queue for later, and those behind it go on.
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

        /** Starts to listen. A broker or queue that is not there yet is waited for. */
        public JmsInboxListener listen() {
            if (deadLetters.equals(queue)) {
                throw new IllegalArgumentException(
                        "Dead letters of " + queue + " would go to the same queue: name another one");
            }
            return new JmsInboxListener(new JmsOptions(
                    factory,
                    queue,
                    deadLetters,
                    consumer(),
                    inbox(),
                    options(),
                    acknowledging,
                    batch,
                    keepsOrder,
                    idOfBroker));
        }
    }
}
