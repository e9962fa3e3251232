package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MessageTest {
    private static final Message FULL = Message.builder()
            .id("m-1")
            .source("/shop")
            .type("ordered")
            .version("2")
            .orderingKey("order-7")
            .payload(new byte[] {1, 2, 3})
            .contentType("application/json")
            .header("h", "one")
            .header("h", new byte[] {(byte) 0xFF})
            .eventTime(Instant.EPOCH)
            .position(new Position("stream", 4, 5))
            .replaySession("rebuild")
            .build();

    @Test
    void nothingIsRequired() {
        Message empty = Message.builder().build();
        assertThat(empty.id()).isEmpty();
        assertThat(empty.source()).isEmpty();
        assertThat(empty.type()).isEmpty();
        assertThat(empty.version()).isEmpty();
        assertThat(empty.orderingKey()).isEmpty();
        assertThat(empty.contentType()).isEmpty();
        assertThat(empty.eventTime()).isEmpty();
        assertThat(empty.position()).isEmpty();
        assertThat(empty.replaySession()).isEmpty();
        assertThat(empty.headers()).isEmpty();
        assertThat(empty.payload()).isEmpty();
    }

    @Test
    void toBuilderKeepsEverything() {
        assertThat(FULL.toBuilder().build()).usingRecursiveComparison().isEqualTo(FULL);
        assertThat(FULL.id()).contains("m-1");
        assertThat(FULL.source()).contains("/shop");
        assertThat(FULL.type()).contains("ordered");
        assertThat(FULL.version()).contains("2");
        assertThat(FULL.orderingKey()).contains("order-7");
        assertThat(FULL.contentType()).contains("application/json");
        assertThat(FULL.eventTime()).contains(Instant.EPOCH);
        assertThat(FULL.position()).contains(new Position("stream", 4, 5));
        assertThat(FULL.replaySession()).contains("rebuild");
    }

    @Test
    void repeatedHeadersAreKeptInOrderAndNamesAreExact() {
        assertThat(FULL.headers("h")).extracting(Header::name).containsExactly("h", "h");
        assertThat(FULL.headers("h").get(0).text()).isEqualTo("one");
        assertThat(FULL.headers("h").get(1).value()).containsExactly(0xFF);
        assertThat(FULL.headers("H")).isEmpty();
    }

    @Test
    void nobodyCanChangeAMessage() {
        byte[] given = {1};
        List<Header> headers = new ArrayList<>(List.of(new Header("a", "1")));
        Message.Builder builder = Message.builder().payload(given).headers(headers);
        Message message = builder.build();

        given[0] = 9;
        headers.clear();
        builder.id("late").header("late", "x").payload(new byte[] {8});
        message.payload()[0] = 7;
        message.toBuilder().header("b", "2").build();

        assertThat(message.payload()).containsExactly(1);
        assertThat(message.id()).isEmpty();
        assertThat(message.headers()).containsExactly(new Header("a", "1"));
        assertThatThrownBy(() -> message.headers().clear()).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void headersAreBytesThatNobodyCanChange() {
        byte[] given = {1};
        Header header = new Header("n", given);
        given[0] = 9;
        header.value()[0] = 8;
        assertThat(header.value()).containsExactly(1);
        assertThat(header)
                .isEqualTo(new Header("n", new byte[] {1}))
                .hasSameHashCodeAs(new Header("n", new byte[] {1}))
                .isNotEqualTo(new Header("n", new byte[] {2}))
                .isNotEqualTo(new Header("m", new byte[] {1}))
                .isNotEqualTo("n");
    }

    @Test
    @DisplayName("SE-04 neither payload nor header values appear in toString")
    void textShowsNoContent() {
        byte[] canary = "CANARY-4711".getBytes(StandardCharsets.UTF_8);
        Message message =
                Message.of("m-1", canary).toBuilder().header("secret", canary).build();
        assertThat(message).hasToString("Message[id=m-1, type=none, 11 bytes]");
        assertThat(message.headers().get(0)).hasToString("Header[secret, 11 bytes]");
    }

    @Test
    @DisplayName("SE-07 no control character of an id, type or header name reaches a log line, and the line is short")
    void textForgesNoLogLines() {
        String forged = "x\r\n2026 ERROR forged \u001b[31m\u2028\u202e\u0000" + "y".repeat(10_000);
        Message message = Message.builder().id(forged).type(forged).build();
        assertThat(message.toString() + new Header(forged, "v")).doesNotContainPattern("[\\p{Cntrl}\\u2028\\u202e]");
        assertThat(message.toString()).hasSizeLessThan(1_000).contains("x\\u{d}\\u{a}2026");
    }

    @Test
    @DisplayName("the size counts the payload and each header with its name, its value and 64 bytes")
    void size() {
        Message message = Message.of("an id does not count", new byte[10]);
        assertThat(message.size()).isEqualTo(10);
        assertThat(message.toBuilder()
                        .header("name", "value")
                        .header("n", "")
                        .build()
                        .size())
                .isEqualTo(10 + 9 + 64 + 1 + 64);
    }
}
