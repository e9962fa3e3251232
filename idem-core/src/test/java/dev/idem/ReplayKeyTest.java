package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.replay.ReplaySpec;
import dev.idem.spi.MarkerKey;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ReplayKeyTest {
    private static final String UUID_7 = "018f3a52-7c1e-7d2a-9b57-0123456789ab";

    private static MarkerKey key(Policy.Replay policy, KeySelector selector, String id, String session) {
        Consumer consumer = Consumer.named("c")
                .key(selector)
                .policy(Policy.defaults().withReplay(policy))
                .build();
        return ConsumerPlan.of(consumer)
                .keyOf(Message.builder().id(id).replaySession(session).build())
                .orElseThrow();
    }

    @Test
    @DisplayName(
            "RP-04 the key of a session is hashed, differs from the ordinary one and from other sessions', and says so")
    void sessionKeys() {
        Set<java.util.UUID> values = new HashSet<>();
        Set<String> names = new HashSet<>();
        for (String id : List.of("m1", UUID_7)) {
            for (String session : new String[] {null, "one", "two"}) {
                MarkerKey key = key(Policy.Replay.ALLOWED, KeySelector.messageId(), id, session);
                values.add(key.value());
                names.add(key.id());
                assertThat(session == null || key.value().version() == 8).isTrue();
            }
        }
        assertThat(values).hasSize(6);
        assertThat(names).hasSize(6).contains("m1/replay=one", UUID_7 + "/replay=two", UUID_7);
        KeySelector parts = message -> Selection.of(List.of(message.id().orElseThrow(), "one"));
        assertThat(key(Policy.Replay.ALLOWED, parts, "m1", null).value()).isNotIn(values);
    }

    @Test
    void onlyWhoRebuildsHasKeysOfASession() {
        for (Policy.Replay policy : List.of(Policy.Replay.UNDONE_ONLY, Policy.Replay.FORBIDDEN)) {
            assertThat(key(policy, KeySelector.messageId(), "m1", "one"))
                    .isEqualTo(key(policy, KeySelector.messageId(), "m1", null));
        }
        assertThat(Policy.defaults().replay()).isEqualTo(Policy.Replay.UNDONE_ONLY);
    }

    @Test
    void specsAreReadAsTheyAreWritten() {
        ReplaySpec spec = ReplaySpec.parse("kafka:topic=orders;partitions=0,1;from=7;to=2026-03-02T09:00:00Z");
        assertThat(ReplaySpec.parse(spec.toString())).isEqualTo(spec);
        assertThat(spec.number("from")).hasValue(7);
        assertThat(spec.time("from")).isEmpty();
        assertThat(spec.time("to")).contains(Instant.parse("2026-03-02T09:00:00Z"));
        assertThat(ReplaySpec.parse("stored")).isEqualTo(ReplaySpec.of("stored"));
        for (String wrong : List.of("", "Stored", "kafka:topic", "kafka:a=1;a=2", "kafka:=x", "kafka:a=")) {
            assertThatThrownBy(() -> ReplaySpec.parse(wrong)).as(wrong).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> spec.only(Set.of("topic"))).hasMessageContaining("no option");
        assertThatThrownBy(() -> ReplaySpec.parse("kafka:to=yesterday").time("to"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
