package dev.idem.kafka;

import dev.idem.Message;
import dev.idem.StoreException;
import dev.idem.broker.EventHeaders;
import dev.idem.broker.Publisher;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes to a topic, by an idempotent producer, and returns when all replicas in sync have the records. The ordering key is
 * the record's key; the message's attributes are CloudEvents headers ({@code ce_id}, …), where {@link KafkaInbox} finds them.
 * Thread-safe. Close it after the inbox.
 */
public final class KafkaPublisher implements Publisher, AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);
    private static final String CONTENT_TYPE = "content-type";

    private final String topic;
    private final Producer<byte[], byte[]> producer;

    private KafkaPublisher(String topic, Producer<byte[], byte[]> producer) {
        this.topic = topic;
        this.producer = producer;
    }

    /**
     * Publishes everything to one topic. While that does not exist, messages wait for it.
     *
     * @param config of the client: {@code bootstrap.servers}, security; what the guarantee needs is set whatever it says
     */
    public static KafkaPublisher to(String topic, Map<?, ?> config) {
        return new KafkaPublisher(
                Refusal.checkedName(topic),
                new KafkaProducer<>(
                        new ClientConfig(config).producer("-outbox"),
                        new ByteArraySerializer(),
                        new ByteArraySerializer()));
    }

    @Override
    public Map<Integer, Exception> publish(List<Message> messages) throws InterruptedException {
        List<Future<?>> sent = new ArrayList<>(messages.size());
        boolean reachable = true;
        for (Message message : messages) {
            sent.add(reachable ? send(message) : unsent());
            reachable &= !isTimedOut(sent.get(sent.size() - 1)); // else each of them would wait as long for the broker
        }
        Map<Integer, Exception> failed = new LinkedHashMap<>();
        long until = System.nanoTime() + LIMIT.toNanos();
        for (int i = 0; i < sent.size(); i++) {
            Exception failure = failure(sent.get(i), Math.max(0, until - System.nanoTime()));
            if (failure != null) {
                failed.put(i, failure);
            }
        }
        return failed;
    }

    private Future<?> send(Message message) {
        try {
            return producer.send(record(message));
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    private static Future<?> unsent() {
        return CompletableFuture.failedFuture(new TimeoutException("not sent, because the broker does not answer"));
    }

    private static boolean isTimedOut(Future<?> sent) throws InterruptedException {
        try {
            if (sent.isDone()) {
                sent.get();
            }
            return false;
        } catch (ExecutionException failure) {
            return failure.getCause() instanceof TimeoutException;
        }
    }

    private @Nullable Exception failure(Future<?> sent, long nanos) throws InterruptedException {
        try {
            sent.get(nanos, TimeUnit.NANOSECONDS);
            return null;
        } catch (ExecutionException failure) {
            return Refusal.of(failure.getCause() == null ? failure : failure.getCause(), topic);
        } catch (java.util.concurrent.TimeoutException late) {
            return new StoreException("Topic " + topic + " did not confirm within " + LIMIT, late);
        }
    }

    private ProducerRecord<byte[], byte[]> record(Message message) {
        Headers headers = new RecordHeaders();
        boolean tombstone = !message.headers(KafkaInbox.TOMBSTONE).isEmpty();
        EventHeaders.of(message, "ce_").forEach(header -> {
            if (!header.name().equals(KafkaInbox.TOMBSTONE)
                    && !(header.name().equals(CONTENT_TYPE)
                            && message.contentType().isPresent())) {
                headers.add(header.name(), header.value());
            }
        });
        message.contentType().ifPresent(type -> headers.add(CONTENT_TYPE, type.getBytes(StandardCharsets.UTF_8)));
        byte[] key = message.orderingKey()
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .orElse(null);
        return new ProducerRecord<>(topic, null, null, key, tombstone ? null : message.payload(), headers);
    }

    @Override
    public void close() {
        producer.close(CLOSE_LIMIT);
    }
}
