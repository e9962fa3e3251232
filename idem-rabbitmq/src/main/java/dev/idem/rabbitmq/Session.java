package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One generation: a connection, its channel, and what was delivered over it. Delivery tags count from one on every channel,
 * so a tag means something only here. It is acknowledged here, alone and at most once, or not at all: a wrong tag makes the
 * broker close the channel, and "all up to this one" would acknowledge what nobody has done. Thread-safe.
 */
final class Session {
    private static final Logger log = LoggerFactory.getLogger(Session.class);

    private final long generation;
    private final Connection connection;
    private final Channel channel;
    private final Map<Long, Long> unsettled = new LinkedHashMap<>(); // tags in their order, and when they came
    private final AtomicReference<@Nullable Throwable> end = new AtomicReference<>();
    private final Runnable ended;
    private final long openedAt = System.nanoTime();
    private final Backpressure pressure;
    private final Arrivals arrivals;
    private volatile @Nullable String consumerTag;
    private volatile int prefetch;
    private boolean leaving;

    private Session(
            long generation,
            Connection connection,
            Channel channel,
            Backpressure pressure,
            Arrivals arrivals,
            Runnable ended) {
        this.generation = generation;
        this.connection = connection;
        this.channel = channel;
        this.pressure = pressure;
        this.arrivals = arrivals;
        this.ended = ended;
    }

    /** Takes what is delivered. */
    @FunctionalInterface
    interface Arrivals {
        void take(Session session, Delivery delivery);
    }

    /**
     * Opens a channel. The caller closes the connection if this throws.
     *
     * @param ended called when the session has ended
     */
    static Session open(
            long generation, Connection connection, Backpressure pressure, Arrivals arrivals, Runnable ended)
            throws IOException {
        Channel channel = connection.createChannel();
        Session session = new Session(generation, connection, channel, pressure, arrivals, ended);
        channel.addShutdownListener(session::end);
        return session;
    }

    /** Begins to consume. */
    void consume(String queue, int messages, Map<String, Object> arguments) throws IOException {
        channel.basicQos(messages);
        consumerTag = channel.basicConsume(queue, false, arguments, new DefaultConsumer(channel) {
            @Override
            public void handleDelivery(String tag, Envelope envelope, BasicProperties properties, byte[] body) {
                if (arrived(envelope.getDeliveryTag())) {
                    take(new Delivery(envelope, properties, body));
                }
                pressure.handed(body.length);
            }

            @Override
            public void handleCancel(String tag) {
                end(new IOException("The broker ended the subscription; is the queue gone?"));
            }

            @Override
            public void handleShutdownSignal(String tag, ShutdownSignalException signal) {
                end(signal);
            }
        });
        prefetch = messages;
    }

    private void take(Delivery delivery) {
        try {
            arrivals.take(this, delivery);
        } catch (RuntimeException unusable) {
            end(unusable);
            leave();
        }
    }

    /** How many messages the broker may send ahead; 0 if nothing is consumed. */
    int prefetch() {
        return prefetch;
    }

    /** Whether nothing is read now, because too much is here. */
    boolean isStalled() {
        return pressure.isBlocking();
    }

    /** How many messages the queue has ready; empty if this cannot be asked now. */
    OptionalLong ready(String queue) throws IOException {
        return isStalled() ? OptionalLong.empty() : OptionalLong.of(channel.messageCount(queue));
    }

    /** Answers whether it is to be handled; after the end of taking it is the broker's to deliver again. */
    private synchronized boolean arrived(long tag) {
        if (!leaving) {
            unsettled.put(tag, System.nanoTime());
        }
        return !leaving;
    }

    synchronized void acknowledge(long tag) {
        if (unsettled.remove(tag) == null || !isOpen()) {
            log.debug("A delivery of generation {} comes again", generation);
            return;
        }
        try {
            channel.basicAck(tag, false);
        } catch (IOException | RuntimeException lost) { // it comes again, and will be a duplicate
            log.debug("A delivery of generation {} could not be acknowledged", generation, lost);
        }
    }

    /** Whether it can still be acknowledged; if not, the broker delivers it again. */
    synchronized boolean holds(long tag) {
        return isOpen() && unsettled.containsKey(tag);
    }

    synchronized int unsettled() {
        return unsettled.size();
    }

    /** How long the oldest delivery has been waiting for its acknowledgement. */
    synchronized Duration oldest() {
        return unsettled.isEmpty()
                ? Duration.ZERO
                : Duration.ofNanos(
                        System.nanoTime() - unsettled.values().iterator().next());
    }

    Duration age() {
        return Duration.ofNanos(System.nanoTime() - openedAt);
    }

    boolean isOpen() {
        return end.get() == null && channel.isOpen();
    }

    private void end(Throwable cause) {
        if (end.compareAndSet(null, cause)) {
            ended.run();
        }
    }

    /** Why it has ended, if it has. */
    Optional<Throwable> ended() {
        return Optional.ofNullable(end.get());
    }

    /** Consumes no more; what is here can still be acknowledged. While nothing is read, this must be tried again. */
    void cancel() {
        try {
            String tag = consumerTag;
            if (tag != null && isOpen() && !isStalled()) {
                channel.basicCancel(tag);
                consumerTag = null;
                prefetch = 0;
            }
        } catch (IOException | RuntimeException gone) {
            log.debug("Generation {} could not be cancelled", generation, gone);
        }
    }

    /** Takes nothing more for good, not even what is on its way; what is here can still be acknowledged. */
    synchronized void leave() {
        leaving = true;
    }

    /** What was not acknowledged is the broker's to deliver again. */
    void close() {
        pressure.end();
        end(new IOException("closed"));
        try {
            channel.close(); // waits until the broker has dealt with all that was sent before
        } catch (IOException | TimeoutException | RuntimeException gone) {
            log.debug("Generation {} is gone already", generation, gone);
        }
        Link.close(connection);
    }
}
