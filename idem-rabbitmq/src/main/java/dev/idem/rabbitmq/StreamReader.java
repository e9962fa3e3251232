package dev.idem.rabbitmq;

import com.rabbitmq.client.Delivery;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Position;
import dev.idem.spi.MarkerStore;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads a stream: its messages stay in it, and the broker keeps no position for anybody. The watermark of the consumer says
 * where to go on, so nothing is passed over and nothing is done twice. Thread-safe.
 */
final class StreamReader {
    private static final String OFFSET = "x-stream-offset";
    private static final long LONGEST_SILENCE = Duration.ofSeconds(10).toNanos();

    private final Consumer consumer;
    private final Inbox inbox;
    private final String name;
    private final long first;
    private @Nullable Session session;
    private long next;
    private boolean expecting;
    private long askedAt;

    /**
     * @param name of the stream in the marks
     * @param first where a consumer without a mark begins
     */
    StreamReader(Consumer consumer, Inbox inbox, String name, long first) {
        this.consumer = consumer;
        this.inbox = inbox;
        this.name = name;
        this.first = first;
    }

    /**
     * From where to consume: over a new connection at the mark, and else behind what was delivered last. The message at the mark
     * is done, but it must be there: in a stream that was made anew it may not.
     */
    synchronized Map<String, Object> arguments(Session current) {
        if (session != current) {
            session = current;
            OptionalLong mark = mark();
            expecting = mark.isPresent() && mark.getAsLong() >= first;
            next = expecting ? mark.getAsLong() : first;
        }
        askedAt = System.nanoTime();
        return Map.of(OFFSET, next);
    }

    private OptionalLong mark() {
        if (!(inbox.store() instanceof MarkerStore.Positioned store)) {
            throw new WrongQueueException(
                    "Consumer " + consumer.name() + " keeps watermarks, but its store cannot keep any");
        }
        inbox.register(consumer);
        return store.markOf(consumer.name(), new Position(name, 0, 0));
    }

    /** @throws WrongQueueException if the message at the mark does not come */
    synchronized void check() {
        if (expecting && System.nanoTime() - askedAt > LONGEST_SILENCE) {
            throw madeAnew("it has no message at offset " + next);
        }
    }

    /**
     * The message with its place in the stream.
     *
     * @throws WrongQueueException if it stands before what was asked for, so the stream is not the one that the mark is about
     */
    synchronized Message placed(Session from, Delivery delivery, Message message) {
        Map<String, Object> headers = delivery.getProperties().getHeaders();
        if (headers == null || !(headers.get(OFFSET) instanceof Number number)) {
            throw new WrongQueueException("The broker does not tell the offset of a message in " + name);
        }
        long offset = number.longValue();
        if (session == from && offset < next) {
            throw madeAnew("it delivers offset " + offset + " where at least " + next + " was asked for");
        }
        if (session == from) {
            expecting = false;
            next = offset + 1;
        }
        return message.toBuilder().position(new Position(name, 0, offset)).build();
    }

    private WrongQueueException madeAnew(String sign) {
        return new WrongQueueException("The stream " + name + " is not the one that consumer " + consumer.name()
                + " has read: " + sign + ". If it was deleted and made anew, choose another streamName for it");
    }
}
