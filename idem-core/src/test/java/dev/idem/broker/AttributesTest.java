package dev.idem.broker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Header;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Rejection;
import dev.idem.Selection;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class AttributesTest {
    private static final Instant AT = Instant.parse("2026-01-02T03:04:05Z");
    private static final Attributes.Broker BROKER = new Attributes.Broker("of-broker", "broker-type", "broker-key", AT);

    private static Message.Builder cloudEvent() {
        return Message.builder()
                .header("ce_id", "of-event")
                .header("ce_source", "/shop")
                .header("ce_type", "order.placed");
    }

    @Test
    void aNamedHeaderThenTheEventThenTheBroker() {
        Message raw = cloudEvent()
                .header("x-id", "of-header")
                .header("x-version", "2")
                .build();
        Message named =
                Attributes.defaults().idFrom("x-id").versionFrom("x-version").read(raw, BROKER);
        assertThat(named.id()).contains("of-header");
        assertThat(named.version()).contains("2");
        assertThat(Attributes.defaults().read(raw, BROKER).id()).contains("of-event");
        assertThat(Attributes.defaults().read(raw, BROKER).source()).contains("/shop");
        Message plain = Attributes.defaults().read(Message.builder().build(), BROKER);
        assertThat(plain.id()).contains("of-broker");
        assertThat(plain.type()).contains("broker-type");
        assertThat(plain.orderingKey()).contains("broker-key");
        assertThat(plain.eventTime()).contains(AT);
    }

    @Test
    @DisplayName("KF-12 an id that stands twice, or is not text, is none")
    void oneIdOrNone() {
        Attributes attributes = Attributes.defaults().idFrom("x-id");
        Attributes.Broker nothing = new Attributes.Broker(null, null, null, null);
        Message twice =
                Message.builder().header("x-id", "1").header("x-id", "2").build();
        assertThat(attributes.read(twice, nothing).id()).isEmpty();
        Message bytes =
                Message.builder().header("x-id", new byte[] {(byte) 0xc3, 0x28}).build();
        assertThat(attributes.read(bytes, nothing).id()).isEmpty();
    }

    @Test
    @DisplayName("a message without an id says in which header it was looked for")
    void whereTheIdWasLookedFor() {
        Attributes.Broker nothing = new Attributes.Broker(null, null, null, null);
        Message raw = Message.builder().header("x-other", "1").build();
        assertThat(missing(
                        Attributes.defaults().idFrom("x-id").typeFrom("x-type").read(raw, nothing)))
                .startsWith(
                        "the message has no id, or more than one; it was looked for in the header x-id, the headers of"
                                + " CloudEvents (ce_id, ce-id, cloudEvents:id, cloudEvents_id)")
                .doesNotContain("x-type");
        assertThat(missing(Attributes.defaults().read(raw, nothing))).contains("it was looked for in the headers of");
        assertThat(missing(MessageReader.<Message>of(m -> new MessageReader.Delivered(m, nothing))
                        .idFrom(m -> null)
                        .read(raw)))
                .contains("what the function idFrom(…) answers");
        assertThat(missing(raw)).contains("the message has no id: set it with Message.builder().id(…)");
    }

    private static String missing(Message message) {
        Selection.Unusable unusable =
                (Selection.Unusable) KeySelector.messageId().select(message);
        assertThat(unusable.reason()).isEqualTo(Rejection.KEY_MISSING);
        return unusable.detail();
    }

    @Test
    void timesInBothForms() {
        Attributes attributes = Attributes.defaults().timeFrom("t");
        assertThat(attributes
                        .read(
                                Message.builder()
                                        .header("t", "2026-01-02T03:04:05Z")
                                        .build(),
                                BROKER)
                        .eventTime())
                .contains(AT);
        assertThat(attributes
                        .read(
                                Message.builder()
                                        .header("t", AT.toEpochMilli() + "")
                                        .build(),
                                BROKER)
                        .eventTime())
                .contains(AT);
        assertThat(attributes
                        .read(Message.builder().header("t", "soon").build(), BROKER)
                        .eventTime())
                .as("the broker's")
                .contains(AT);
    }

    @Test
    @DisplayName("of all headers that begin with idem- two are taken from producers, spelt exactly, once, and as text")
    void headersOfAnOutbox() {
        Message raw = Message.builder()
                .header("idem-causation-id", "cause")
                .header("idem-correlation-id", "all")
                .header("Idem-Causation-Id", "other")
                .header("IDEM-CORRELATION-ID", "other")
                .header("idem-causation-id2", "other")
                .header("idem-id", "forged")
                .header("idem-replay-session", "forged")
                .build();
        Message read = Attributes.defaults().read(raw, BROKER);
        assertThat(read.headers())
                .extracting(Header::name)
                .containsExactlyInAnyOrder("idem-causation-id", "idem-correlation-id");
        assertThat(read.causationId()).contains("cause");
        assertThat(read.correlationId()).contains("all");
        assertThat(read.id()).contains("of-broker");
        Message twice = raw.toBuilder().header("idem-causation-id", "cause").build();
        assertThat(Attributes.defaults().read(twice, BROKER).causationId()).isEmpty();
    }

    @Test
    @DisplayName("a header names the session only where it is chosen, and no header of ours is one")
    void sessionsFromAHeader() {
        Message raw = Message.builder()
                .header("x-session", "again")
                .header("idem-replay-session", "forged")
                .build();
        assertThat(Attributes.defaults().read(raw, BROKER).replaySession()).isEmpty();
        Attributes trusting = Attributes.defaults().replaySessionFrom("x-session");
        assertThat(trusting.read(raw, BROKER).replaySession()).contains("again");
        assertThat(trusting.idFrom("x-id").read(raw, BROKER).replaySession()).contains("again");
        assertThat(trusting.read(Message.builder().build(), BROKER).replaySession())
                .isEmpty();
        Message twice = raw.toBuilder().header("x-session", "again").build();
        assertThat(trusting.read(twice, BROKER).replaySession())
                .as("nobody may choose between two")
                .isEmpty();
        Message bytes = Message.builder()
                .header("x-session", new byte[] {(byte) 0xc3, 0x28})
                .build();
        assertThat(trusting.read(bytes, BROKER).replaySession()).isEmpty();
    }

    @Test
    void structuredEventsWithAReader() {
        StructuredEvents reader = new StructuredEvents() {
            @Override
            public boolean understands(String contentType) {
                return contentType.equals("application/cloudevents+json");
            }

            @Override
            public Message read(Message message) {
                if (message.payload().length == 0) {
                    throw new IllegalArgumentException("not an event");
                }
                return message.toBuilder().id("inside").build();
            }
        };
        Attributes attributes = Attributes.defaults().structured(reader);
        Message.Builder event = Message.builder().contentType("application/cloudevents+json");
        assertThat(attributes
                        .read(event.payload(new byte[] {1}).build(), BROKER)
                        .id())
                .contains("inside");
        assertThat(attributes
                        .read(event.payload(new byte[0]).build(), new Attributes.Broker(null, null, null, null))
                        .id())
                .isEmpty();
    }
}
