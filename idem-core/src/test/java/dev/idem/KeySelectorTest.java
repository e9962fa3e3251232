package dev.idem;

import static dev.idem.SelectionTest.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
