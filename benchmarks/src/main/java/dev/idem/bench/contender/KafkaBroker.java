package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.kafka.KafkaInbox;
import dev.idem.kafka.KafkaInboxListener;
import dev.idem.servers.KafkaServer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A Kafka with a topic for each number of records; each measurement reads one of them again, as a new group. */
public final class KafkaBroker implements Broker {
    static final String ID = "ce_id";
    private static final int PARTITIONS = 4;
    private static final int CENTS = 4_200;

    private final KafkaServer server;
    private final Admin admin;
    private final Set<String> filled = new HashSet<>();
    private String topic = "";
    private String group = "";
    private long records;

    private KafkaBroker(KafkaServer server) {
        this.server = server;
        admin = Admin.create(config());
    }

    public static KafkaBroker start() {
        return new KafkaBroker(KafkaServer.start());
    }

    private Map<String, Object> config() {
        return Map.of("bootstrap.servers", server.address());
    }

    @Override
    public void fill(int messages) throws ExecutionException, InterruptedException {
        topic = "payments-" + messages;
        group = "bench-" + UUID.randomUUID();
        records = messages;
        if (!filled.add(topic)) {
            return;
        }
        admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1)))
                .all()
                .get();
        // One request at a time: a new topic may refuse the first while it takes the second, which never comes right.
        Map<String, Object> batches = Map.of(
                "bootstrap.servers", server.address(), "linger.ms", "20", "max.in.flight.requests.per.connection", "1");
        try (var producer = new KafkaProducer<>(batches, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>(messages);
            for (int i = 0; i < messages; i++) {
                sent.add(producer.send(record(i)));
            }
            for (Future<RecordMetadata> record : sent) {
                record.get();
            }
        }
    }

    private ProducerRecord<byte[], byte[]> record(int number) {
        var request = new PaymentRequest("0-" + number, CENTS, false);
        var record = new ProducerRecord<>(topic, number % PARTITIONS, bytes(request.order()), request.payload());
        record.headers().add("ce_specversion", bytes("1.0"));
        record.headers().add(ID, bytes(UUID.randomUUID().toString()));
        record.headers().add("ce_source", bytes("/bench"));
        record.headers().add("ce_type", bytes(Delivery.TYPE));
        return record;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public Taking loop(Contender contender, Meter meter) {
        return KafkaLoop.start(server.address(), group, topic, contender, meter);
    }

    @Override
    public Taking listen(Consumer consumer, Inbox inbox) {
        Map<String, Object> config = Map.of("bootstrap.servers", server.address(), "group.id", group);
        KafkaInboxListener listener = KafkaInbox.listen(config, List.of(topic), consumer, inbox);
        return listener::close;
    }

    @Override
    public long left() throws ExecutionException, InterruptedException {
        return records
                - admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().values().stream()
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
