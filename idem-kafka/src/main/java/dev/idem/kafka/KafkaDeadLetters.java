package dev.idem.kafka;

import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.broker.MessageReader;
import dev.idem.kafka.DeadLetterSender.Origin;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters of a topic. Kafka cannot take single records away, so a letter that was sent again is crossed out: a
 * record without a value behind it in its partition names it, in the header {@link #REPLAYED}.
 *
 * <p>Sees what was there when it was opened; each partition from its beginning. Used by one thread.
 */
public final class KafkaDeadLetters implements DeadLetters {
    /** The header of a record that crosses out a letter: its partition and offset. */
    public static final String REPLAYED = "idem-replayed";

    private final String topic;
    private final Set<String> allowedOrigins;
    private final MessageReader<ConsumerRecord<byte[], byte[]>> messages;
    private final LetterReader reader;
    private final DeadLetterSender sender;
    private @Nullable ConsumerRecord<byte[], byte[]> last;

    private KafkaDeadLetters(
            ClientConfig config,
            String topic,
            Collection<String> allowedOrigins,
            MessageReader<ConsumerRecord<byte[], byte[]>> messages) {
        this.topic = topic;
        this.allowedOrigins = Set.copyOf(allowedOrigins);
        this.messages = messages;
        sender = new DeadLetterSender(config.letters());
        try {
            reader = new LetterReader(config.reader(), topic);
        } catch (RuntimeException failure) {
            sender.close();
            throw failure;
        }
    }

    /**
     * Opens the dead letters of a topic, with the configuration of any client; {@code bootstrap.servers} is needed. Letters
     * are sent again only to the topic whose dead letters these are by their name: {@code orders} for
     * {@code orders.dead-letters}. For others, say where letters may be sent to.
     */
    public static KafkaDeadLetters open(Map<?, ?> config, String deadLetterTopic) {
        boolean named = deadLetterTopic.endsWith(KafkaInbox.DEAD_LETTERS);
        int end = deadLetterTopic.length() - KafkaInbox.DEAD_LETTERS.length();
        return open(config, deadLetterTopic, named ? Set.of(deadLetterTopic.substring(0, end)) : Set.of());
    }

    /**
     * Opens the dead letters of a topic.
     *
     * @param allowedOrigins the topics that letters may be sent to; whatever else a letter says of where it came from, it is
     *     refused, for anybody who can write to the topic of dead letters could say it
     */
    public static KafkaDeadLetters open(Map<?, ?> config, String deadLetterTopic, Collection<String> allowedOrigins) {
        return open(config, deadLetterTopic, allowedOrigins, KafkaMessages.reader());
    }

    /** Opens the dead letters of a topic whose listener reads records in its own way. */
    public static KafkaDeadLetters open(
            Map<?, ?> config,
            String deadLetterTopic,
            Collection<String> allowedOrigins,
            MessageReader<ConsumerRecord<byte[], byte[]>> messages) {
        try {
            return new KafkaDeadLetters(new ClientConfig(config), deadLetterTopic, allowedOrigins, messages);
        } catch (KafkaException failure) {
            throw new IdemException(
                    "Could not read the dead letters in " + deadLetterTopic
                            + ": check that the brokers are there, that the topic exists, and that the user may read it",
                    failure);
        }
    }

    @Override
    public Optional<Letter> next() {
        try {
            for (var record = reader.next(); record != null; record = reader.next()) {
                Message message = messages.readLetter(DeadLetterSender.asItWas(record));
                Optional<DeadLetter> about = DeadLetter.of(message);
                if (about.isPresent()) {
                    last = record;
                    return Optional.of(new Letter(place(record), message, about.get()));
                }
            }
            return Optional.empty();
        } catch (KafkaException failure) {
            throw new IdemException("Could not read the dead letters in " + topic, failure);
        }
    }

    @Override
    public void sendAgain(Letter letter) {
        Map<String, String> origin = letter.about().origin();
        String from = origin.getOrDefault(Origin.TOPIC, "");
        if (!allowedOrigins.contains(from)) {
            throw new IdemException(
                    "The dead letter " + letter.place() + " says that it came from '"
                            + from.replaceAll("[^a-zA-Z0-9._-]", "?") + "', but letters of " + topic
                            + " may only be sent to " + allowedOrigins,
                    null);
        }
        try {
            ConsumerRecord<byte[], byte[]> record =
                    last != null && place(last).equals(letter.place()) ? last : reader.at(letter.place());
            sender.sendAgain(record, from, Integer.parseInt(origin.getOrDefault(Origin.PARTITION, "0")));
            sender.send(crossingOut(record));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IdemException("Interrupted while " + letter.place() + " was sent again", stop);
        } catch (Exception failure) {
            throw new IdemException(
                    "The dead letter " + letter.place() + " was not confirmed in " + from + "; it is still there",
                    failure);
        }
    }

    private ProducerRecord<byte[], byte[]> crossingOut(ConsumerRecord<byte[], byte[]> letter) {
        byte[] place = place(letter).getBytes(StandardCharsets.UTF_8);
        return new ProducerRecord<>(
                topic, letter.partition(), null, null, null, List.of(new RecordHeader(REPLAYED, place)));
    }

    static String place(ConsumerRecord<byte[], byte[]> record) {
        return record.partition() + "-" + record.offset();
    }

    /** How many records there are and were not crossed out; crossings-out and gaps are counted too. */
    @Override
    public Optional<Long> size() {
        return Optional.of(reader.size());
    }

    @Override
    public void close() {
        reader.close();
        sender.close();
    }
}
