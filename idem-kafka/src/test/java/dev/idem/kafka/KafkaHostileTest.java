package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.bytes;
import static dev.idem.kafka.KafkaBed.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.broker.ListenerState;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.SkipWithoutServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records whose attributes nobody expects: each is handled or set aside, and none stops the others. */
@Timeout(120)
@ExtendWith(SkipWithoutServer.class)
class KafkaHostileTest {
    private static final String HUGE = "x".repeat(300_000);

    @ParameterizedTest
    @ValueSource(strings = {"inline", "queued", "parking", "watermark"})
    @DisplayName("extreme times, NUL, and ids, types and keys of 300 kB: nothing stops behind them, and all is settled")
    void extremes(String kind) throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            List<ProducerRecord<byte[], byte[]>> hostile = new ArrayList<>();
            for (String time : List.of("+999999999-12-31T23:59:59Z", "-999999999-01-01T00:00:00Z", "nonsense")) {
                hostile.add(with(bed.record("k", "time" + time), "ce_time", time));
            }
            hostile.add(bed.record("a\0b", "nul-key"));
            hostile.add(bed.record("c", "nul\0id"));
            hostile.add(bed.record(HUGE, "huge-key"));
            hostile.add(bed.record("d", HUGE));
            hostile.add(with(bed.record("e", "huge-type"), "ce_type", HUGE));
            hostile.add(with(bed.record("f", "nul-type"), "ce_type", "a\0b"));
            hostile.add(with(bed.record("g", "huge-source"), "ce_source", HUGE));
            hostile.add(with(bed.record("h", "nul-source"), "ce_source", "a\0b"));
            hostile.add(with(bed.record("i", "huge-content"), "content-type", HUGE));
            hostile.add(with(bed.record("i", "nul-content"), "content-type", "a\0b"));
            hostile.add(with(with(bed.record("j", "nul-header"), "\0", "\0"), "", ""));
            for (var record : hostile) {
                KafkaBed.send(record);
            }
            bed.send(0, 10);
            Consumer.Builder writes = KafkaBed.writes(message -> {
                if (kind.equals("parking") && !message.id().orElseThrow().matches("m\\d+")) {
                    throw new TerminalException("to be parked", null);
                }
            });
            Consumer consumer = switch (kind) {
                case "queued" ->
                    writes.queued(QueuePolicy.inTransaction().withPoll(Duration.ofMillis(100)))
                            .build();
                case "parking" -> writes.parking(QueuePolicy.inTransaction()).build();
                case "watermark" -> writes.watermark().build();
                default -> writes.build();
            };
            var inbox = bed.inbox();
            if (kind.equals("queued")) {
                inbox.start(consumer);
            }
            try (KafkaInboxListener listener = KafkaInbox.builder(bed.config, List.of(bed.topic), consumer, inbox)
                    .retry(RetryPolicy.fixed(Duration.ofMillis(20)).withMaxAttempts(2))
                    .listen()) {
                until(
                        "the good ones are done",
                        () -> bed.effects().stream()
                                        .filter(id -> id.matches("m\\d+"))
                                        .count()
                                == 10);
                bed.awaitSettled();
                assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
            }
        }
    }

    private static ProducerRecord<byte[], byte[]> with(
            ProducerRecord<byte[], byte[]> record, String name, String value) {
        record.headers().add(name, bytes(value));
        return record;
    }
}
