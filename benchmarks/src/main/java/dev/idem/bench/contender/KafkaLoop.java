package dev.idem.bench.contender;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Polls, processes what came, and commits the offsets without waiting for the answer, which is the fastest way. */
final class KafkaLoop implements Broker.Taking {
    private static final Duration POLL = Duration.ofMillis(100);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Contender contender;
    private final Meter meter;
    private final Thread thread = new Thread(this::run, "kafka-loop");
    private volatile boolean ending;

    private KafkaLoop(KafkaConsumer<byte[], byte[]> consumer, Contender contender, Meter meter) {
        this.consumer = consumer;
        this.contender = contender;
        this.meter = meter;
    }

    static KafkaLoop start(String servers, String group, String topic, Contender contender, Meter meter) {
        Map<String, Object> config = Map.of(
                "bootstrap.servers",
                servers,
                "group.id",
                group,
                "auto.offset.reset",
                "earliest",
                "enable.auto.commit",
                "false");
        var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(topic));
        var loop = new KafkaLoop(consumer, contender, meter);
        loop.thread.start();
        return loop;
    }

    private void run() {
        try (consumer) {
            while (!ending) {
                ConsumerRecords<byte[], byte[]> polled = consumer.poll(POLL);
                if (!polled.isEmpty()) {
                    meter.handling();
                    contender.handle(deliveries(polled));
                    consumer.commitAsync();
                    meter.handled(polled.count());
                }
            }
            consumer.commitSync();
        } catch (Exception failure) {
            meter.failed(failure);
        }
    }

    private static List<Delivery> deliveries(ConsumerRecords<byte[], byte[]> polled) {
        List<Delivery> deliveries = new ArrayList<>(polled.count());
        for (ConsumerRecord<byte[], byte[]> record : polled) {
            byte[] id = record.headers().lastHeader(KafkaBroker.ID).value();
            deliveries.add(Delivery.of(
                    new String(id, StandardCharsets.UTF_8), record.value(), record.partition(), record.offset()));
        }
        return deliveries;
    }

    @Override
    public void close() throws InterruptedException {
        ending = true;
        thread.join();
    }
}
