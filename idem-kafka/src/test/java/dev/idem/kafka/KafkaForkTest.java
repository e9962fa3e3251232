package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.SkipWithoutServer;
import java.nio.file.Path;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What depends on the JVM: its heap, and the client on its class path. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaForkTest {
    private static final int LARGE = 900_000;

    @Test
    @DisplayName("a hundred records of 0.9 MB, a slow handler and a small heap: memory is enough")
    void smallHeap() throws Exception {
        Random random = new Random(3);
        try (KafkaBed bed = new KafkaBed(4)) {
            for (int i = 0; i < 100; i++) {
                byte[] payload = new byte[LARGE];
                random.nextBytes(payload);
                ProducerRecord<byte[], byte[]> record =
                        new ProducerRecord<>(bed.topic, i % 4, bytes("k" + i % 10), payload);
                record.headers().add("ce_id", bytes("m" + i));
                KafkaBed.send(record);
            }
            String said = ForkedConsumer.run(bed, 100, ForkedConsumer.client(), "-Xmx96m");
            assertThat(said).startsWith("CLOSED").contains("well").doesNotContain("OutOfMemory");
        }
    }

    @Test
    @DisplayName("the oldest client that is supported: listens and closes")
    void oldestClient() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.send(0, 10);
            String said = ForkedConsumer.run(bed, 10, Path.of("target", "oldest", "kafka-clients.jar"));
            assertThat(said).startsWith("CLOSED 4.0.").contains("well").doesNotContain("NoClassDef");
        }
    }
}
