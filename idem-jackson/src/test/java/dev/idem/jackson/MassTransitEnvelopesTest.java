package dev.idem.jackson;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Message;
import dev.idem.broker.Attributes;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MassTransitEnvelopesTest {
    private static final Attributes.Broker NOTHING = new Attributes.Broker(null, null, null, null);

    private static Message envelope(String json) {
        return Message.builder()
                .contentType("application/vnd.masstransit+json; charset=utf-8")
                .header("h", "of the transport")
                .payload(json.getBytes(StandardCharsets.UTF_8))
                .build();
    }

    @Test
    void whatIsInsideIsFoundByDefaultWhenThisModuleIsThere() {
        Message raw = envelope("""
                {"messageId":"m-1","correlationId":"c-1","conversationId":"conversation","initiatorId":"c-0",
                 "sourceAddress":"rabbitmq://mq/host_bus_xyz?temporary=true","sentTime":"2026-01-02T03:04:05.678901Z",
                 "messageType":["urn:message:Shop:OrderPlaced","urn:message:Shop:Event"],
                 "headers":{"h":"of the envelope","n":7,"deep":{"a":1},"Idem-Replay-Session":"forged"},
                 "message":{"amount": 1.10, "large": 12345678901234567890.12345678901234567890}}
                """);
        for (Attributes attributes : new Attributes[] {Attributes.defaults(), Attributes.massTransit()}) {
            Message message = attributes.read(raw, NOTHING);
            assertThat(message.id()).contains("m-1");
            assertThat(message.type()).contains("urn:message:Shop:OrderPlaced");
            assertThat(message.source()).as("a temporary queue says nothing").isEmpty();
            assertThat(message.eventTime()).contains(Instant.parse("2026-01-02T03:04:05.678901Z"));
            assertThat(message.correlationId()).contains("c-1");
            assertThat(message.causationId()).contains("c-0");
            assertThat(message.contentType()).contains("application/json");
            assertThat(message.payload())
                    .asString()
                    .isEqualTo("{\"amount\":1.10,\"large\":12345678901234567890.12345678901234567890}");
            assertThat(message.header("h")).contains("of the transport");
            assertThat(message.header("n")).contains("7");
            assertThat(message.header("Idem-Replay-Session")).isEmpty();
        }
        Message unopened = Attributes.massTransit().unopened().read(raw, NOTHING);
        assertThat(unopened.payload()).isEqualTo(raw.payload());
        assertThat(unopened.id()).isEmpty();
    }

    @Test
    @DisplayName("KF-12 what is no envelope has no id, so that the policy for missing keys decides")
    void noEnvelope() {
        for (String odd : new String[] {
            "", "[]", "{", "{\"messageId\":\"m\"}", "{\"messageId\":\"m\",\"messageId\":\"n\",\"message\":{}}"
        }) {
            Message message = Attributes.defaults().read(envelope(odd), NOTHING);
            assertThat(message.id()).as(odd).isEmpty();
            assertThat(message.payload()).asString().isEqualTo(odd);
        }
    }

    @Test
    void structuredEventsAreReadByDefaultAndKeepTheirDigits() {
        Message raw = Message.builder()
                .contentType("application/cloudevents+json")
                .payload("{\"id\":\"e\",\"source\":\"/s\",\"correlationid\":\"c\",\"data\":{\"amount\":1.10}}"
                        .getBytes(StandardCharsets.UTF_8))
                .build();
        for (Attributes attributes : new Attributes[] {Attributes.defaults(), Attributes.cloudEvents()}) {
            Message message = attributes.read(raw, NOTHING);
            assertThat(message.id()).contains("e");
            assertThat(message.correlationId()).contains("c");
            assertThat(message.payload()).asString().isEqualTo("{\"amount\":1.10}");
        }
    }
}
