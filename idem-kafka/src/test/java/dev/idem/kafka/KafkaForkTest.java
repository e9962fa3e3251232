package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.SkipWithoutServer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What depends on the JVM: its heap, and the client on its class path. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaForkTest {
    private static final int LARGE = 900_000;

    @ParameterizedTest(name = "{1} records packed by {0}, -Xmx{2}")
    @CsvSource({"none, 120, 96m", "gzip, 300, 160m"})
    @DisplayName("more than 100 MB of records of 0.9 MB, a slow handler and a small heap: memory is enough")
    void smallHeap(String compression, int records, String heap) throws Exception {
        Random random = new Random(3);
        try (KafkaBed bed = new KafkaBed(4);
                var producer = producer(compression)) {
            for (int i = 0; i < records; i++) {
                byte[] payload = new byte[LARGE];
                if (compression.equals("none")) {
                    random.nextBytes(payload);
                }
                ProducerRecord<byte[], byte[]> record =
                        new ProducerRecord<>(bed.topic, i % 4, bytes("k" + i % 10), payload);
                record.headers().add("ce_id", bytes("m" + i));
                producer.send(record);
            }
            producer.flush();
            String said = ForkedConsumer.run(bed, records, ForkedConsumer.client(), "-Xmx" + heap);
            assertThat(said).contains("CLOSED", "well").doesNotContain("OutOfMemory");
        }
    }

    private static KafkaProducer<byte[], byte[]> producer(String compression) {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", KafkaBed.server().address(), "compression.type", compression),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    @Test
    @DisplayName("the oldest client that is supported: listens, sets aside, restarts, closes, and sends letters again")
    void oldestClient() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.send(0, 10);
            KafkaBed.send(bed.record("k", ForkedConsumer.BAD));
            String said = ForkedConsumer.run(bed, 11, Path.of("target", "oldest", "kafka-clients.jar"));
            assertThat(said).contains("CLOSED 4.0.").contains("well letters 1").doesNotContain("NoClassDef");
            assertThat(bed.letters()).isEmpty();
        }
    }
}
