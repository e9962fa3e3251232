package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
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
    private final CompletableFuture<Throwable> end = new CompletableFuture<>();
    private final long openedAt = System.nanoTime();
    private @Nullable String consumerTag;

    private Session(long generation, Connection connection, Channel channel) {
        this.generation = generation;
        this.connection = connection;
        this.channel = channel;
    }

    /** Begins to consume. The caller closes the connection if this throws. */
    static Session open(long generation, Connection connection, String queue, int prefetch, Consumer<Incoming> arrivals)
            throws IOException {
        Channel channel = connection.createChannel();
        channel.basicQos(prefetch);
        Session session = new Session(generation, connection, channel);
        channel.addShutdownListener(session.end::complete);
        session.consume(queue, arrivals);
        return session;
    }

    private void consume(String queue, Consumer<Incoming> arrivals) throws IOException {
        consumerTag = channel.basicConsume(queue, false, new DefaultConsumer(channel) {
            @Override
            public void handleDelivery(String tag, Envelope envelope, BasicProperties properties, byte[] body) {
                arrived(envelope.getDeliveryTag());
                arrivals.accept(new Incoming(Session.this, envelope, properties, body));
            }

            @Override
            public void handleCancel(String tag) {
                end.complete(new IOException("The broker ended the subscription; is the queue gone?"));
            }

            @Override
            public void handleShutdownSignal(String tag, ShutdownSignalException signal) {
                end.complete(signal);
            }
        });
    }

    private synchronized void arrived(long tag) {
        unsettled.put(tag, System.nanoTime());
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
        return !end.isDone() && channel.isOpen();
    }

    /** Waits a while for the end; answers its cause if it came. */
    Optional<Throwable> awaitEnd(Duration longest) throws InterruptedException {
        try {
            return Optional.of(end.get(longest.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException alive) {
            return Optional.empty();
        } catch (ExecutionException impossible) {
            return Optional.of(impossible);
        }
    }

    /** Takes no more deliveries; what is here can still be acknowledged. */
    void cancel() {
        try {
            String tag = consumerTag;
            if (tag != null && isOpen()) {
                channel.basicCancel(tag);
            }
        } catch (IOException | RuntimeException gone) {
            log.debug("Generation {} could not be cancelled", generation, gone);
        }
    }

    /** What was not acknowledged is the broker's to deliver again. */
    void close() {
        end.complete(new IOException("closed"));
        try {
            channel.close(); // waits until the broker has dealt with all that was sent before
        } catch (IOException | TimeoutException | RuntimeException gone) {
            log.debug("Generation {} is gone already", generation, gone);
        }
        Link.close(connection);
    }
}
