package dev.idem.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class KafkaServerTest {
    @Test
    void acknowledgedRecordsSurviveAKill() throws Exception {
        try (KafkaServer server = KafkaServer.start()) {
            int port = server.port();
            try (Admin admin = Admin.create(config(server))) {
                admin.createTopics(List.of(new NewTopic("t", Optional.of(1), Optional.empty())))
                        .all()
                        .get();
            }
            send(server, 0, 100);
            long before = server.pid();
            server.killHard();
            assertThat(ProcessHandle.of(before).stream()).noneMatch(ProcessTree::runs);
            server.restart();
            assertThat(server.port()).isEqualTo(port);
            send(server, 100, 110);
            assertThat(read(server, 110)).hasSize(110).doesNotHaveDuplicates();
        }
    }

    @Test
    void aClosedServerLeavesNothing() {
        KafkaServer closed = KafkaServer.start();
        long pid = closed.pid();
        closed.pause();
        closed.close();
        assertThat(ProcessHandle.of(pid).stream()).noneMatch(ProcessTree::runs);
        assertThat(Files.exists(closed.log().getParent())).isFalse();
        closed.close();
    }

    private static void send(KafkaServer server, int from, int to) throws Exception {
        try (var producer = new KafkaProducer<>(config(server), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = from; i < to; i++) {
                producer.send(new ProducerRecord<>("t", ("m" + i).getBytes(StandardCharsets.UTF_8)));
            }
        }
    }

    private static List<String> read(KafkaServer server, int count) {
        List<String> values = new ArrayList<>();
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        try (var consumer =
                new KafkaConsumer<>(config(server), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(new TopicPartition("t", 0)));
            consumer.seekToBeginning(consumer.assignment());
            while (values.size() < count && System.nanoTime() < deadline) {
                consumer.poll(Duration.ofMillis(100))
                        .forEach(record -> values.add(new String(record.value(), StandardCharsets.UTF_8)));
            }
        }
        return values;
    }

    private static Map<String, Object> config(KafkaServer server) {
        return Map.of("bootstrap.servers", server.address());
    }
}
