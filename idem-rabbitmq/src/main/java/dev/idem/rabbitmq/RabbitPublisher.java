package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Address;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ShutdownSignalException;
import dev.idem.Message;
import dev.idem.broker.EventHeaders;
import java.io.IOException;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Publishes persistent messages to an exchange, and returns when the broker has confirmed that each is in a queue. One that no
 * queue receives has failed, as has one that is too large for the broker. The id is the property {@code message-id}; the other attributes are CloudEvents headers
 * ({@code cloudEvents:type}, …), where {@link RabbitInbox} finds them. Has one connection, opened when needed. Thread-safe.
 * Close it after the inbox.
 */
public final class RabbitPublisher implements dev.idem.broker.Publisher, AutoCloseable {
    private static final long CONFIRM_MILLIS = 15_000;

    private final Link link;
    private final String exchange;
    private final Function<Message, String> routingKey;
    private @Nullable Channel channel;
    private @Nullable Confirms confirms;
    private volatile @Nullable Connection connection;
    private volatile boolean closed;

    private RabbitPublisher(Link link, String exchange, Function<Message, String> routingKey) {
        this.link = link;
        this.exchange = Objects.requireNonNull(exchange, "exchange");
        this.routingKey = Objects.requireNonNull(routingKey, "routingKey");
    }

    /** Publishes everything to one queue. */
    public static RabbitPublisher toQueue(ConnectionFactory factory, String queue) {
        Objects.requireNonNull(queue, "queue");
        return toExchange(factory, "", message -> queue);
    }

    /** Publishes to an exchange, each message with a routing key of its own. */
    public static RabbitPublisher toExchange(
            ConnectionFactory factory, String exchange, Function<Message, String> routingKey) {
        return new RabbitPublisher(new Link(factory, List.<Address>of()), exchange, routingKey);
    }

    @Override
    public synchronized Map<Integer, Exception> publish(List<Message> messages) throws InterruptedException {
        boolean answered = false;
        try {
            Channel open = channel();
            Confirms round = Objects.requireNonNull(confirms);
            round.begin(open.getNextPublishSeqNo(), messages);
            for (Message message : messages) {
                send(open, message, routingKey.apply(message));
            }
            open.waitForConfirms(CONFIRM_MILLIS);
            answered = true;
            return round.failed();
        } catch (IOException | TimeoutException | ShutdownSignalException failure) {
            throw Refusal.of(failure, exchange);
        } finally {
            if (!answered) { // a late answer must not be taken for that to the next messages
                forget();
            }
        }
    }

    private void send(Channel open, Message message, String key) throws IOException {
        try {
            open.basicPublish(exchange, key, true, properties(message), message.payload());
        } catch (IllegalArgumentException unsendable) {
            throw Refusal.byTheClient(unsendable);
        }
    }

    private Channel channel() throws IOException, TimeoutException {
        Connection current = connection;
        if (current == null || !current.isOpen()) {
            forget();
            Link.close(current);
            current = link.connect("idem-outbox");
            connection = current;
        }
        if (closed) {
            Link.close(current);
            throw new IOException("The publisher is closed");
        }
        Channel open = channel;
        if (open == null || !open.isOpen()) {
            Confirms listening = new Confirms();
            open = current.createChannel();
            open.confirmSelect();
            open.addReturnListener(listening::returned);
            open.addConfirmListener((tag, multiple) -> {}, listening::nacked);
            confirms = listening;
            channel = open;
        }
        return open;
    }

    private static BasicProperties properties(Message message) {
        List<dev.idem.Header> headers = EventHeaders.of(message, "cloudEvents:");
        Optional<Instant> time = message.eventTime();
        return new BasicProperties.Builder()
                .messageId(message.id().orElse(null))
                .type(message.type().orElse(null))
                .contentType(message.contentType().orElse(null))
                .timestamp(time.isPresent() ? Date.from(time.get()) : null)
                .deliveryMode(2)
                .headers(Tables.table(new BasicProperties(), headers, Set.of()))
                .build();
    }

    private void forget() {
        Channel old = channel;
        channel = null;
        try {
            if (old != null) {
                old.abort();
            }
        } catch (IOException | RuntimeException gone) {
            // as intended
        }
    }

    /** Also while another thread waits for a confirmation, which it will not get. */
    @Override
    public void close() {
        closed = true;
        Link.close(connection);
    }
}
