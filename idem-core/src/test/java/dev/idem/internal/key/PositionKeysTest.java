package dev.idem.internal.key;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Position;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.spi.MarkerKey;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PositionKeysTest {
    private final Consumer consumer =
            Consumer.named("c").watermark().otherwise((message, tx) -> null).build();

    @Test
    void everyPositionHasAKeyOfItsOwn() {
        Set<UUID> values = new HashSet<>();
        Set<MarkerKey> keys = new HashSet<>();
        for (String stream : new String[] {"a", "b", "a/id=0", "a/id\\=0"}) {
            for (int partition = -1; partition < 3; partition++) {
                for (long offset : new long[] {Long.MIN_VALUE, -1, 0, 1, 10, Long.MAX_VALUE}) {
                    MarkerKey key = key(new Position(stream, partition, offset));
                    values.add(key.value());
                    keys.add(key);
                }
            }
        }
        assertThat(values).hasSize(4 * 4 * 6);
        assertThat(keys).hasSize(4 * 4 * 6);
    }

    @Test
    void aRedeliveryHasTheSameKeyWhateverCameBetween() {
        MarkerKey first = key(new Position("a", 1, 7));
        key(new Position("b", 1, 7));
        assertThat(key(new Position("a", 1, 7))).isEqualTo(first);
        assertThat(first).hasToString("c/id=a/id=1/id=7");
    }

    @Test
    void aStreamWithoutAUsableNameHasNone() {
        assertThat(ConsumerPlan.of(consumer).keyOf(message(new Position(" ", 0, 1))))
                .isEmpty();
        assertThat(ConsumerPlan.of(consumer).keyOf(message(new Position("\uD800", 0, 1))))
                .isEmpty();
        assertThat(ConsumerPlan.of(consumer).keyOf(message(new Position("x".repeat(2_000), 0, 1))))
                .isEmpty();
        assertThat(ConsumerPlan.of(consumer).keyOf(Message.of("m", new byte[0])))
                .isEmpty();
    }

    private MarkerKey key(Position position) {
        return ConsumerPlan.of(consumer).keyOf(message(position)).orElseThrow();
    }

    private static Message message(Position position) {
        return Message.builder().position(position).build();
    }
}
