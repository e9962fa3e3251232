package dev.idem;

import static dev.idem.SelectionTest.assertRejected;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.key.Keyed;
import dev.idem.spi.MarkerKey;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KeySelectorTest {
    private static final Message BARE = Message.builder().build();
    private static final Message MESSAGE = Message.builder()
            .id("m-1")
            .source("/shop")
            .header("x-id", "h-1")
            .header("twice", "a")
            .header("twice", "a")
            .header("bytes", new byte[] {(byte) 0xFF})
            .position(new Position("cluster/topic-id", 3, 42))
            .build();

    @Test
    void theMessageIdIsTheKey() {
        assertThat(KeySelector.messageId().select(MESSAGE)).isEqualTo(parts(null, null, "m-1"));
        assertRejected(KeySelector.messageId().select(BARE), Rejection.KEY_MISSING);
    }

    @Test
    @DisplayName("KY-02 a CloudEvent is known by source and id together")
    void cloudEventsNeedBoth() {
        assertThat(KeySelector.cloudEvent().select(MESSAGE)).isEqualTo(parts(null, "/shop", "m-1"));
        assertRejected(KeySelector.cloudEvent().select(Message.of("m-1", new byte[0])), Rejection.KEY_MISSING);
        assertThat(KeySelector.identity().select(MESSAGE)).isEqualTo(parts(null, "/shop", "m-1"));
        assertThat(KeySelector.identity().select(Message.of("m-1", new byte[0])))
                .isEqualTo(parts(null, null, "m-1"));
        assertRejected(KeySelector.identity().select(BARE), Rejection.KEY_MISSING);
        assertThat(ConsumerPlan.of(Consumer.of("c")).keyOf(MESSAGE))
                .as("the default")
                .isEqualTo(ConsumerPlan.of(consumer(KeySelector.cloudEvent())).keyOf(MESSAGE));
        assertRejected(
                KeySelector.cloudEvent().select(Message.builder().source("s").build()), Rejection.KEY_MISSING);
    }

    @Test
    @DisplayName("KF-12 a header counts only if it is there exactly once and is UTF-8")
    void headers() {
        assertThat(KeySelector.header("x-id").select(MESSAGE)).isEqualTo(parts(null, null, "h-1"));
        assertRejected(KeySelector.header("X-ID").select(MESSAGE), Rejection.KEY_MISSING);
        assertRejected(KeySelector.header("twice").select(MESSAGE), Rejection.KEY_MALFORMED);
        assertRejected(KeySelector.header("bytes").select(MESSAGE), Rejection.KEY_MALFORMED);
    }

    @Test
    @DisplayName("SE-07 a header's name is shown without control characters")
    void headerNamesAreEscaped() {
        assertThat(KeySelector.header("a\nb").select(MESSAGE).toString()).contains("header a\\u{a}b is absent");
    }

    @Test
    @DisplayName("a keyed key tells nothing of what it was made of, and tells apart what the plain key does")
    void keyed() {
        byte[] secret = "0123456789abcdef".getBytes(UTF_8);
        KeySelector keyed = KeySelector.messageId().keyed(secret);
        Selection.Parts selected = (Selection.Parts) keyed.select(MESSAGE);
        assertThat(selected.toString()).doesNotContain("m-1");
        assertThat(keyed.select(MESSAGE)).isEqualTo(selected);
        assertThat(List.of(
                        KeySelector.messageId()
                                .keyed("another secret, long".getBytes(UTF_8))
                                .select(MESSAGE),
                        keyed.select(Message.of("m-2", new byte[0])),
                        KeySelector.cloudEvent().keyed(secret).select(MESSAGE),
                        KeySelector.messageId()
                                .perTenant(m -> Optional.of("/shop"))
                                .keyed(secret)
                                .select(MESSAGE),
                        KeySelector.business(m -> List.of("m", "-1"))
                                .keyed(secret)
                                .select(MESSAGE),
                        KeySelector.business(m -> List.of("m-", "1"))
                                .keyed(secret)
                                .select(MESSAGE),
                        selected))
                .doesNotHaveDuplicates();
        assertRejected(keyed.select(BARE), Rejection.KEY_MISSING);
        assertThat(keyed.withEventTime().isTimeOrdered()).isTrue();
        assertThatThrownBy(() -> KeySelector.messageId().keyed(new byte[15])).hasMessageContaining("15 bytes");
    }

    @Test
    void businessKeysKeepTheirParts() {
        assertThat(KeySelector.business(m -> List.of("order-7", "ship")).select(BARE))
                .isEqualTo(parts(null, null, "order-7", "ship"));
        assertRejected(KeySelector.business(m -> List.of()).select(BARE), Rejection.KEY_MISSING);
    }

    @Test
    @DisplayName("KF-11 a position is known by the identity of its stream, its partition and its offset")
    void positions() {
        assertThat(KeySelector.position().select(MESSAGE)).isEqualTo(parts(null, null, "cluster/topic-id", "3", "42"));
        assertRejected(KeySelector.position().select(BARE), Rejection.KEY_MISSING);
    }

    @Test
    void tenantsAreAddedAndRequired() {
        KeySelector selector = KeySelector.cloudEvent().perTenant(m -> Optional.of("acme"));
        assertThat(selector.select(MESSAGE)).isEqualTo(parts("acme", "/shop", "m-1"));
        assertRejected(selector.select(BARE), Rejection.KEY_MISSING);
        assertRejected(KeySelector.messageId().perTenant(m -> Optional.empty()).select(MESSAGE), Rejection.KEY_MISSING);
    }

    @Test
    @DisplayName("PG-29 a time-ordered key is the same as without the promise, and an id without a time is turned away")
    void timeOrderedIds() {
        KeySelector ordered = KeySelector.messageId().timeOrdered();
        for (String id : List.of("0199d1a2-3b4c-7def-8123-456789abcdef", "01ARZ3NDEKTSV4RRFFQ69G5FAV")) {
            Message message = Message.of(id, new byte[0]);
            assertThat(ordered.select(message)).isEqualTo(parts(null, null, id));
            assertThat(ConsumerPlan.of(consumer(ordered)).keyOf(message))
                    .isEqualTo(
                            ConsumerPlan.of(consumer(KeySelector.messageId())).keyOf(message));
        }
        for (String id : List.of(
                "f47ac10b-58cc-4372-a567-0e02b2c3d479", // version 4
                "0199D1A2-3B4C-7DEF-8123-456789ABCDEF", // hashed as it is, without its time
                "0199d1a2-3b4c-8def-8123-456789abcdef", // version 8
                "81ARZ3NDEKTSV4RRFFQ69G5FAV", // beyond 48 bits
                "m-1")) {
            assertRejected(ordered.select(Message.of(id, new byte[0])), Rejection.KEY_NOT_TIME_ORDERED);
        }
        assertRejected(ordered.select(BARE), Rejection.KEY_MISSING);
    }

    @Test
    @DisplayName("PG-29 the event time goes in front of the key, to the millisecond, and is part of the identity")
    void eventTimes() {
        Consumer dated = consumer(KeySelector.messageId().withEventTime());
        Instant time = Instant.parse("2026-11-16T23:59:59.999999Z");
        Message message = MESSAGE.toBuilder().eventTime(time).build();
        MarkerKey key = ConsumerPlan.of(dated).keyOf(message).orElseThrow();
        assertThat(key.value().getMostSignificantBits() >>> 16).isEqualTo(time.toEpochMilli());
        assertThat(key.value().version()).isEqualTo(8);
        assertThat(key.readable()).isEqualTo("id=m-1/time=2026-11-16T23:59:59.999Z");
        assertThat(ConsumerPlan.of(dated)
                        .keyOf(message.toBuilder().eventTime(time.plusNanos(1)).build()))
                .as("finer fractions are lost on some ways")
                .contains(key);
        assertThat(ConsumerPlan.of(dated)
                        .keyOf(message.toBuilder().eventTime(time.plusMillis(1)).build()))
                .isNotEqualTo(Optional.of(key));
        assertThat(ConsumerPlan.of(dated).keyOf(message.toBuilder().id("m-2").build()))
                .isNotEqualTo(Optional.of(key));
        assertThat(ConsumerPlan.of(dated).keyed(message))
                .isEqualTo(new Keyed.Key(key, Instant.ofEpochMilli(time.toEpochMilli())));

        assertRejected(dated.key().select(MESSAGE), Rejection.KEY_MISSING);
        for (Instant outside : List.of(Instant.EPOCH.minusMillis(1), Instant.ofEpochMilli(1L << 48), Instant.MAX)) {
            Message odd = message.toBuilder().eventTime(outside).build();
            assertRejected(dated.key().select(odd), Rejection.KEY_MALFORMED);
        }
    }

    @Test
    void aSelectorSaysWhetherItsKeysBeginWithATime() {
        KeySelector id = KeySelector.messageId();
        assertThat(List.of(id, KeySelector.cloudEvent(), id.perTenant(m -> Optional.of("t"))))
                .noneMatch(KeySelector::isTimeOrdered);
        assertThat(List.of(
                        id.timeOrdered(),
                        id.withEventTime(),
                        id.timeOrdered().perTenant(m -> Optional.of("t")),
                        id.perTenant(m -> Optional.of("t")).timeOrdered()))
                .allMatch(KeySelector::isTimeOrdered);
    }

    private static Consumer consumer(KeySelector key) {
        return Consumer.named("c").key(key).build();
    }

    @Test
    @SuppressWarnings("NullAway")
    void wrongArgumentsFailAtConstruction() {
        assertThatThrownBy(() -> KeySelector.header(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> KeySelector.business(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> KeySelector.messageId().perTenant(null)).isInstanceOf(NullPointerException.class);
    }

    private static Selection parts(String tenant, String source, String... ids) {
        return new Selection.Parts(tenant, source, List.of(ids));
    }
}
