package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.GetResponse;
import dev.idem.Header;
import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.broker.MessageReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters of a queue. While this is open, the letters it has read are hidden from others, so nobody else can open them;
 * when it is closed, those that were not sent again are back in their places. What names a letter is written into it when it is set aside, so it is the
 * same for everybody who looks, and after letters before it have left.
 *
 * <p>On a quorum queue with a delivery limit (20 by default since RabbitMQ 4) every look counts as a delivery, and letters
 * looked at too often are dropped by the broker. The queue that a listener declares has no such limit.
 */
public final class RabbitDeadLetters implements DeadLetters {
    private static final String SUFFIX = ".dead-letters";

    private final String queue;
    private final MessageReader<Delivery> reader;
    private final Set<String> allowedOrigins;
    private final Connection connection;
    private final Channel channel;
    private final Publisher publisher;
    /** What was read last; those before stay with the broker, unacknowledged, until this is closed. */
    private @Nullable GetResponse last;

    private String lastPlace = "";

    private long read;

    private RabbitDeadLetters(
            String queue,
            MessageReader<Delivery> reader,
            Set<String> allowedOrigins,
            Connection connection,
            Channel channel,
            Publisher publisher) {
        this.queue = queue;
        this.reader = reader;
        this.allowedOrigins = allowedOrigins;
        this.connection = connection;
        this.channel = channel;
        this.publisher = publisher;
    }

    /** Opens the letters of a queue, with the defaults for the rest. */
    public static RabbitDeadLetters open(ConnectionFactory factory, String deadLetterQueue) {
        return open(factory, deadLetterQueue, Attributes.defaults());
    }

    /**
     * Opens the letters of a queue. They may be sent again to the queue that these letters belong to by their name, {@code orders}
     * for {@code orders.dead-letters}, and to no other.
     *
     * @param attributes as the listener reads them, so that letters can be found by id and type
     * @throws IdemException if the broker does not answer or has no such queue, or somebody else is reading it
     */
    public static RabbitDeadLetters open(ConnectionFactory factory, String deadLetterQueue, Attributes attributes) {
        boolean named = deadLetterQueue.endsWith(SUFFIX);
        String origin = named ? deadLetterQueue.substring(0, deadLetterQueue.length() - SUFFIX.length()) : "";
        return open(factory, deadLetterQueue, attributes, named ? Set.of(origin) : Set.of());
    }

    /**
     * Opens the letters of a queue.
     *
     * @param attributes as the listener reads them, so that letters can be found by id and type
     * @param allowedOrigins the queues to which letters may be sent again. A letter says itself where it came from, and who
     *     can write to its queue can forge that
     * @throws IdemException if the broker does not answer or has no such queue, or somebody else is reading it
     */
    public static RabbitDeadLetters open(
            ConnectionFactory factory, String deadLetterQueue, Attributes attributes, Set<String> allowedOrigins) {
        return open(factory, deadLetterQueue, RabbitMessages.reader().attributes(attributes), allowedOrigins);
    }

    /**
     * Opens the letters of a queue whose listener reads deliveries in its own way.
     *
     * @param reader as the listener has it
     * @param allowedOrigins the queues to which letters may be sent again
     * @throws IdemException if the broker does not answer or has no such queue, or somebody else is reading it
     */
    public static RabbitDeadLetters open(
            ConnectionFactory factory,
            String deadLetterQueue,
            MessageReader<Delivery> reader,
            Set<String> allowedOrigins) {
        Link link = new Link(factory, List.of());
        Connection connection = null;
        try {
            connection = link.connect("idem dead letters of " + deadLetterQueue);
            Channel channel = connection.createChannel();
            channel.queueDeclarePassive(deadLetterQueue);
            ReaderLock.take(connection, deadLetterQueue);
            Publisher publisher = new Publisher(link, "idem replay of " + deadLetterQueue, (c, target) -> {});
            return new RabbitDeadLetters(
                    deadLetterQueue, reader, Set.copyOf(allowedOrigins), connection, channel, publisher);
        } catch (IdemException hidden) {
            Link.close(connection);
            throw hidden;
        } catch (IOException | TimeoutException failure) {
            Link.close(connection);
            throw new IdemException(
                    "Could not open the dead letters in queue " + deadLetterQueue
                            + ": check that the broker is there, that the queue exists, and that the user may read it",
                    failure);
        }
    }

    @Override
    public Optional<Letter> next() {
        try {
            for (GetResponse got = channel.basicGet(queue, false); got != null; got = channel.basicGet(queue, false)) {
                Delivery letter = new Delivery(got.getEnvelope(), got.getProps(), got.getBody());
                Message message = reader.readLetter(Origin.restored(letter, reader.raw(letter)::header));
                Optional<DeadLetter> about = DeadLetter.of(message);
                if (about.isPresent()) {
                    last = got;
                    lastPlace = place(message, about.get());
                    read++;
                    return Optional.of(new Letter(lastPlace, message, about.get()));
                }
            }
            return Optional.empty();
        } catch (IOException | RuntimeException failure) {
            throw new IdemException("Could not read the dead letters in queue " + queue + "; open them again", failure);
        }
    }

    /** One that was set aside before letters had names gets one from what it says; its copies get the same. */
    private static String place(Message message, DeadLetter about) {
        return message.header(Tables.LETTER).orElseGet(() -> {
            byte[] id = (about.at() + "/" + message.id().orElse("") + "/").getBytes(StandardCharsets.UTF_8);
            byte[] said = Arrays.copyOf(id, id.length + message.payload().length);
            System.arraycopy(message.payload(), 0, said, id.length, message.payload().length);
            return UUID.nameUUIDFromBytes(said).toString();
        });
    }

    @Override
    public void sendAgain(Letter letter) {
        GetResponse source = last;
        if (source == null || !letter.place().equals(lastPlace)) {
            throw new IllegalArgumentException(
                    "letter " + letter.place() + " is not the one that was read last, or is sent already");
        }
        String origin = letter.about().origin().get("queue");
        if (origin == null) {
            throw new IdemException("Letter " + letter.place() + " does not tell which queue it came from", null);
        }
        if (!allowedOrigins.contains(origin)) {
            throw new IdemException(
                    "Letter " + letter.place() + " says that it came from a queue to which letters in " + queue
                            + " may not be sent again: if it is right, name it among the allowed origins",
                    null);
        }
        try {
            publisher.publish(letter, Target.queue(origin), replay(source, letter.message()), source.getBody());
            channel.basicAck(source.getEnvelope().getDeliveryTag(), false);
            last = null;
            read--;
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw notSent(letter, stop);
        } catch (IOException | TimeoutException | RuntimeException failure) {
            throw notSent(letter, failure);
        }
    }

    private static BasicProperties replay(GetResponse source, Message message) {
        List<Header> headers = new ArrayList<>(DeadLetter.headersOfReplay(message));
        message.headers().stream()
                .filter(header -> Origin.isKept(header.name()))
                .forEach(headers::add);
        var kept = DeadLetter.withoutOurs(message.headers()).stream()
                .map(Header::name)
                .collect(Collectors.toSet());
        return Tables.copy(source.getProps(), Tables.table(source.getProps(), headers, kept));
    }

    private IdemException notSent(Letter letter, Throwable cause) {
        return new IdemException("Letter " + letter.place() + " of queue " + queue + " may not have been sent", cause);
    }

    @Override
    public Optional<Long> size() {
        try {
            return Optional.of(channel.messageCount(queue) + read);
        } catch (IOException | RuntimeException failure) {
            throw new IdemException("Could not count the dead letters in queue " + queue, failure);
        }
    }

    @Override
    public void close() {
        publisher.close();
        try {
            channel.close(); // waits until the broker has put the letters back
        } catch (IOException | TimeoutException | RuntimeException gone) {
            // a broken connection puts them back as well
        }
        Link.close(connection);
    }
}
