package dev.idem.cli.demo;

import dev.idem.servers.KafkaServer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A Kafka with a topic for each consumer. */
final class DemoKafka implements DemoBroker {
    private static final int PARTITIONS = 4;

    private final KafkaServer server;
    private final Map<String, Object> config;
    private final Admin admin;

    private DemoKafka(KafkaServer server) {
        this.server = server;
        config = Map.of("bootstrap.servers", server.address());
        admin = Admin.create(config);
    }

    static DemoKafka start() {
        return new DemoKafka(KafkaServer.start());
    }

    @Override
    public Place publish(String name, DemoPlan plan) throws ExecutionException, InterruptedException {
        admin.createTopics(List.of(new NewTopic(name, PARTITIONS, (short) 1)))
                .all()
                .get();
        List<Delivery> deliveries = DemoBroker.deliveries(plan);
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        // One request at a time: a new topic may refuse the first while it takes the second, which never comes right.
        Map<String, Object> inOrder =
                Map.of("bootstrap.servers", server.address(), "max.in.flight.requests.per.connection", "1");
        try (var producer = new KafkaProducer<>(inOrder, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (Delivery delivery : deliveries) {
                sent.add(producer.send(record(name, delivery)));
            }
            for (Future<RecordMetadata> record : sent) {
                record.get();
            }
        }
        return new Place(Kind.KAFKA, server.address(), name, deliveries.size());
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, Delivery delivery) {
        var record = new ProducerRecord<>(topic, bytes(delivery.payment().order()), delivery.payload());
        record.headers().add(KafkaClient.ID, bytes(delivery.payment().id()));
        record.headers().add("ce_type", bytes(Delivery.TYPE));
        record.headers().add(Delivery.KNOBS, bytes(delivery.knobs()));
        return record;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public long left(Place place) throws ExecutionException, InterruptedException {
        return place.messages()
                - admin.listConsumerGroupOffsets(place.name()).partitionsToOffsetAndMetadata().get().values().stream()
                        .mapToLong(OffsetAndMetadata::offset)
                        .sum();
    }

    @Override
    public void close() {
        try (server) {
            admin.close();
        }
    }
}
