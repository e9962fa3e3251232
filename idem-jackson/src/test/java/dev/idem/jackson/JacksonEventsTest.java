package dev.idem.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Message;
import dev.idem.broker.Attributes;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class JacksonEventsTest {
    private final JacksonEvents events = JacksonEvents.create();

    private static Message message(String json) {
        return Message.builder()
                .contentType("application/cloudevents+json; charset=UTF-8")
                .header("h", "kept")
                .payload(json.getBytes(StandardCharsets.UTF_8))
                .build();
    }

    @Test
    void attributesAndDataComeFromThePayload() {
        Message event = events.read(message("""
                {"specversion":"1.0","id":"e-1","source":"/shop","type":"order.placed","time":"2026-01-02T03:04:05Z",
                 "partitionkey":"customer-7","data":{"amount": 12}}
                """));
        assertThat(event.id()).contains("e-1");
        assertThat(event.source()).contains("/shop");
        assertThat(event.type()).contains("order.placed");
        assertThat(event.orderingKey()).contains("customer-7");
        assertThat(event.eventTime()).contains(Instant.parse("2026-01-02T03:04:05Z"));
        assertThat(event.contentType()).contains("application/json");
        assertThat(event.payload()).asString().isEqualTo("{\"amount\":12}");
        assertThat(event.headers("h")).hasSize(1);
    }

    @Test
    void dataAsBytesAsTextAndNone() {
        assertThat(events.read(message("{\"id\":\"1\",\"data_base64\":\"AP8=\"}"))
                        .payload())
                .containsExactly(0, 0xff);
        assertThat(events.read(message("{\"id\":\"1\",\"datacontenttype\":\"text/plain\",\"data\":\"hello\"}"))
                        .payload())
                .asString()
                .isEqualTo("hello");
        assertThat(events.read(message("{\"id\":\"1\",\"data\":\"hello\"}")).payload())
                .asString()
                .isEqualTo("\"hello\"");
        assertThat(events.read(message("{\"id\":\"1\"}")).payload()).isEmpty();
    }

    @Test
    @DisplayName("KF-12 what is not an event has no id, so that the policy for missing keys decides")
    void noEvent() {
        for (String odd : new String[] {
            "", "[]", "null", "{", "{\"id\":\"1\",\"id\":\"2\"}", "{\"id\":\"1\",\"data_base64\":\"%\"}"
        }) {
            assertThatThrownBy(() -> events.read(message(odd)))
                    .as(odd)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageNotContaining("\"2\"");
            Message read = Attributes.defaults()
                    .structured(events)
                    .read(message(odd), new Attributes.Broker(null, null, null, null));
            assertThat(read.id()).as(odd).isEmpty();
            assertThat(read.payload()).asString().isEqualTo(odd);
        }
        assertThat(events.read(message("{\"id\":7}")).id())
                .as("a number is not an id")
                .isEmpty();
    }

    @Test
    void onlyItsContentType() {
        assertThat(events.understands("Application/CloudEvents+json")).isTrue();
        assertThat(events.understands("application/json")).isFalse();
        assertThat(events.understands("application/cloudevents-batch+json")).isFalse();
    }
}
