package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CloudEventHeadersTest {

    @ParameterizedTest
    @ValueSource(strings = {"ce_", "ce-", "CE-", "Ce-", "cloudEvents:", "cloudEvents_"})
    void readsTheNamesOfEveryTransport(String prefix) {
        Message message = Message.builder()
                .header(prefix + "id", "m-1")
                .header(prefix + "source", "/shop")
                .header(prefix + "type", "ordered")
                .header(prefix + "time", "2026-01-02T03:04:05+01:00")
                .header(prefix + "partitionkey", "order-7")
                .header("Content-Type", "application/json")
                .fromCloudEventHeaders()
                .build();
        assertThat(message.id()).contains("m-1");
        assertThat(message.source()).contains("/shop");
        assertThat(message.type()).contains("ordered");
        assertThat(message.eventTime()).contains(Instant.parse("2026-01-02T02:04:05Z"));
        assertThat(message.orderingKey()).contains("order-7");
        assertThat(message.contentType()).contains("application/json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"CE_id", "ce_ID", "cloudevents:id", "cloudEvents:ID", "ceid", "id", "xce-id"})
    void onlyHttpNamesIgnoreCase(String name) {
        assertThat(id(Message.builder().header(name, "m-1"))).isNull();
    }

    @Test
    void whatIsSetAlreadyWins() {
        Message message = Message.builder()
                .id("mine")
                .source("mine")
                .type("mine")
                .orderingKey("mine")
                .contentType("mine")
                .eventTime(Instant.EPOCH)
                .header("ce_id", "theirs")
                .header("ce_source", "theirs")
                .header("ce_type", "theirs")
                .header("ce_partitionkey", "theirs")
                .header("ce_time", "2026-01-02T03:04:05Z")
                .header("content-type", "theirs")
                .fromCloudEventHeaders()
                .build();
        assertThat(message.id()).contains("mine");
        assertThat(message.source()).contains("mine");
        assertThat(message.type()).contains("mine");
        assertThat(message.orderingKey()).contains("mine");
        assertThat(message.contentType()).contains("mine");
        assertThat(message.eventTime()).contains(Instant.EPOCH);
    }

    @ParameterizedTest
    @CsvSource({
        "Euro%20%E2%82%AC%20%F0%9F%98%80, Euro € 😀",
        "%e2%82%ac, €",
        "100%, 100%",
        "%4, %4",
        "%zz, %zz",
        "%4z, %4z",
        "%z4, %z4",
        "%25%34%31, %41",
        "a+b, a+b"
    })
    void httpValuesArePercentDecodedOnce(String raw, String decoded) {
        assertThat(id(Message.builder().header("ce-id", raw))).isEqualTo(decoded);
        assertThat(id(Message.builder().header("ce_id", raw))).isEqualTo(raw);
    }

    @Test
    @DisplayName("KF-12 a repeated attribute counts as absent, also when two transports name it")
    void repeatedAttributesAreAbsent() {
        assertThat(id(Message.builder().header("ce_id", "a").header("ce_id", "a")))
                .isNull();
        assertThat(id(Message.builder().header("ce_id", "a").header("ce-id", "a")))
                .isNull();
        Message message = Message.builder()
                .header("content-type", "a")
                .header("Content-Type", "b")
                .fromCloudEventHeaders()
                .build();
        assertThat(message.contentType()).isEmpty();
    }

    @Test
    @DisplayName("KF-12 an attribute that is not UTF-8 counts as absent, also when it hides behind percent signs")
    void malformedAttributesAreAbsent() {
        assertThat(id(Message.builder().header("ce_id", new byte[] {'a', (byte) 0xC3})))
                .isNull();
        assertThat(id(Message.builder().header("ce-id", "a%C3"))).isNull();
        assertThat(id(Message.builder().header("ce_id", new byte[] {(byte) 0xC0, (byte) 0x80})))
                .isNull();
        Message message = Message.builder()
                .header("content-type", new byte[] {(byte) 0xFF})
                .fromCloudEventHeaders()
                .build();
        assertThat(message.contentType()).isEmpty();
    }

    @Test
    @DisplayName("PC-15 an empty id stays empty, so that it is rejected and not taken for another")
    void anEmptyIdIsKept() {
        assertThat(id(Message.builder().header("ce_id", ""))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "now", "2026-01-02", "2026-01-02T03:04:05", "2026-13-02T03:04:05Z", "1767322800"})
    void aMalformedTimeIsAbsent(String time) {
        assertThat(time(time)).isNull();
    }

    @Test
    void timesAreRfc3339() {
        Instant expected = Instant.parse("2026-01-02T03:04:05.123456789Z");
        assertThat(time("2026-01-02T03:04:05.123456789Z")).isEqualTo(expected);
        assertThat(time("2026-01-02t03:04:05.123456789z")).isEqualTo(expected);
        assertThat(time("2026-01-02T08:34:05.123456789+05:30")).isEqualTo(expected);
    }

    private static String id(Message.Builder builder) {
        return builder.fromCloudEventHeaders().build().id().orElse(null);
    }

    private static Instant time(String text) {
        return Message.builder()
                .header("ce_time", text)
                .fromCloudEventHeaders()
                .build()
                .eventTime()
                .orElse(null);
    }
}
