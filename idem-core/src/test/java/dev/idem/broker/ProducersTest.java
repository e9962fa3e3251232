package dev.idem.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.queue.Outbox;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What producers of other make write into headers, in their wire formats; the real libraries are in module interop. */
class ProducersTest {
    private static final Attributes.Broker NOTHING = new Attributes.Broker(null, null, null, null);

    private static Message.Builder nServiceBus() {
        return Message.builder()
                .header("NServiceBus.MessageId", "6f2a0a5c-5b0e-4f4e-9a43-b1a700c5c0de")
                .header("NServiceBus.MessageIntent", "Publish")
                .header("NServiceBus.ConversationId", "conversation")
                .header("NServiceBus.CorrelationId", "correlation")
                .header("NServiceBus.RelatedTo", "cause")
                .header("NServiceBus.OriginatingEndpoint", "Sales")
                .header("NServiceBus.TimeSent", "2026-01-02 03:04:05:678901 Z")
                .header("NServiceBus.ContentType", "application/json")
                .header(
                        "NServiceBus.EnclosedMessageTypes",
                        "Sales.Messages.OrderPlaced, Sales.Messages, Version=1.0.0.0, Culture=neutral,"
                                + " PublicKeyToken=null;Sales.Messages.IEvent, Sales.Messages, Version=1.0.0.0");
    }

    @Test
    void nServiceBusIsKnownByItsNames() {
        for (Attributes attributes : new Attributes[] {Attributes.defaults(), Attributes.nServiceBus()}) {
            Message message = attributes.read(nServiceBus().build(), NOTHING);
            assertThat(message.id()).contains("6f2a0a5c-5b0e-4f4e-9a43-b1a700c5c0de");
            assertThat(message.type()).contains("Sales.Messages.OrderPlaced");
            assertThat(message.source()).contains("Sales");
            assertThat(message.eventTime()).contains(Instant.parse("2026-01-02T03:04:05.678901Z"));
            assertThat(message.contentType()).contains("application/json");
            assertThat(message.correlationId()).contains("correlation");
            assertThat(message.causationId()).contains("cause");
        }
    }

    @Test
    void aPresetComesBeforeCloudEventsAndTheseBeforeWellKnownNames() {
        Message both = nServiceBus().header("ce_id", "of-the-event").build();
        assertThat(Attributes.defaults().read(both, NOTHING).id()).contains("of-the-event");
        // region interop-nservicebus
        Attributes attributes = Attributes.nServiceBus();
        // endregion
        assertThat(attributes.read(both, NOTHING).id()).contains("6f2a0a5c-5b0e-4f4e-9a43-b1a700c5c0de");
        assertThat(attributes.idFrom("ce_id").read(both, NOTHING).id())
                .as("what is said later counts more")
                .contains("of-the-event");
    }

    @Test
    void massTransitsOwnNamesAreKnownWithoutItsEnvelope() {
        Message raw = Message.builder()
                .header("MT-MessageType", "urn:message:Shop:OrderPlaced;urn:message:Shop:Event")
                .header("MT-Source-Address", "rabbitmq://mq/shop?durable=true")
                .header("MT-InitiatorId", "cause")
                .build();
        Message message =
                Attributes.defaults().read(raw, new Attributes.Broker("property", null, null, null, "of-amqp"));
        assertThat(message.id()).contains("property");
        assertThat(message.type()).contains("urn:message:Shop:OrderPlaced");
        assertThat(message.source()).contains("rabbitmq://mq/shop");
        assertThat(message.causationId()).contains("cause");
        assertThat(message.correlationId()).contains("of-amqp");
        Message temporary = Message.builder()
                .header("MT-Source-Address", "rabbitmq://mq/host_app_bus_x?temporary=true")
                .build();
        assertThat(Attributes.defaults().read(temporary, NOTHING).source())
                .as("another one in each process")
                .isEmpty();
    }

    @Test
    void extensionsOfAnEventOverAmqpNeedNoPrefixAndThoseThatHaveOneComeFirst() {
        Message.Builder bare = Message.builder()
                .header("partitionkey", "customer-7")
                .header("correlationid", "c-1")
                .header("causationid", "order-0");
        Attributes attributes = Attributes.defaults();
        for (String said : new String[] {"cloudEvents:specversion", "cloudEvents_specversion"}) {
            Message event =
                    attributes.read(bare.build().toBuilder().header(said, "1.0").build(), NOTHING);
            assertThat(event.orderingKey()).as(said).contains("customer-7");
            assertThat(event.correlationId()).as(said).contains("c-1");
            assertThat(event.causationId()).as(said).contains("order-0");
        }
        Message both = bare.build().toBuilder()
                .header("cloudEvents:specversion", "1.0")
                .header("cloudEvents:partitionkey", "of-the-event")
                .header("cloudEvents:correlationid", "of-the-event")
                .build();
        assertThat(attributes.read(both, NOTHING).orderingKey()).contains("of-the-event");
        assertThat(attributes.read(both, NOTHING).correlationId()).contains("of-the-event");
        for (Message other : new Message[] {
            bare.build(),
            bare.build().toBuilder().header("ce_specversion", "1.0").build()
        }) {
            assertThat(attributes.read(other, NOTHING).orderingKey())
                    .as("nobody says what it means")
                    .isEmpty();
            assertThat(attributes.read(other, NOTHING).correlationId()).isEmpty();
        }
    }

    @Test
    void whoNeedsAParserIsTold() {
        assertThatThrownBy(Attributes::massTransit).hasMessageContaining("add idem-jackson");
        assertThatThrownBy(Attributes::cloudEvents).hasMessageContaining("add idem-jackson");
    }

    @Test
    void theOutboxOfDebeziumIsReadWithAndWithoutQuotes() {
        String connect = "{\"schema\":{\"type\":\"string\",\"optional\":false,\"name\":\"io.debezium.data.Uuid\","
                + "\"version\":1},\"payload\":\"e-1\"}";
        for (String id : new String[] {"e-1", "\"e-1\"", connect}) {
            Message raw = Message.builder()
                    .header("id", id)
                    .header("eventType", "\"OrderPlaced\"")
                    .build();
            Message message = Attributes.debeziumOutbox()
                    .read(raw, new Attributes.Broker(null, null, "\"order-7\"", Instant.EPOCH));
            assertThat(message.id()).as(id).contains("e-1");
            assertThat(message.type()).contains("OrderPlaced");
            assertThat(message.orderingKey()).contains("order-7");
            assertThat(message.eventTime()).contains(Instant.EPOCH);
            assertThat(message.headers()).as("as they arrived").isEqualTo(raw.headers());
        }
    }

    @Test
    @DisplayName("KY-03 quotes are a part of an id, unless the producer says that it is JSON")
    void quotesStayWhereTheyMayBeMeant() {
        Attributes attributes = Attributes.defaults().idFrom("x-id");
        Message quoted = Message.builder().header("x-id", "\"a\"").build();
        assertThat(attributes.read(quoted, NOTHING).id()).contains("\"a\"");
        Message spring = quoted.toBuilder()
                .header("spring_json_header_types", "{\"x-id\":\"java.util.UUID\"}")
                .build();
        assertThat(attributes.read(spring, NOTHING).id()).contains("a");
        Message another = quoted.toBuilder()
                .header("spring_json_header_types", "{\"other\":\"java.util.UUID\"}")
                .build();
        assertThat(attributes.read(another, NOTHING).id()).contains("\"a\"");
        assertThat(attributes.jsonHeaders().read(quoted, NOTHING).id()).contains("a");
    }

    @Test
    void onlyWholeJsonStringsAreOpened() {
        assertThat(JsonText.said("\"\\u00e4\\n\\\"\\\\\\/\"")).contains("ä\n\"\\/");
        assertThat(JsonText.said("\"\"")).contains("");
        assertThat(JsonText.said("{\"schema\":{\"type\":\"int64\",\"optional\":true},\"payload\":42}"))
                .contains("42");
        for (String odd : new String[] {
            "",
            "\"",
            "a",
            "\"a",
            "a\"",
            "\"a\"b\"",
            "\"a\\\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12G4\"",
            "\"a\nb\"",
            "42",
            "null",
            "{\"payload\":\"a\"}",
            "{\"schema\":{\"a\":{}},\"payload\":\"a\"}"
        }) {
            assertThat(JsonText.said(odd)).as(odd).isEmpty();
        }
    }

    @Test
    void springsTypeIsKnown() {
        Message raw = Message.builder()
                .header("__TypeId__", "shop.OrderPlaced")
                .header("correlationId", "c")
                .header("contentType", "application/json")
                .build();
        assertThat(Attributes.defaults().read(raw, NOTHING).type()).contains("shop.OrderPlaced");
        assertThat(Attributes.defaults().read(raw, NOTHING).correlationId()).isEmpty();
        Message message = Attributes.spring().read(raw, NOTHING);
        assertThat(message.type()).contains("shop.OrderPlaced");
        assertThat(message.correlationId()).contains("c");
        assertThat(message.contentType()).contains("application/json");
    }

    @Test
    void whatAnOutboxSaysOfCausesIsKept() {
        Message raw = Message.builder()
                .header(Outbox.CORRELATION_ID, "of-the-outbox")
                .header("ce_causationid", "of-the-event")
                .build();
        Message message = Attributes.defaults().read(raw, new Attributes.Broker(null, null, null, null, "of-amqp"));
        assertThat(message.correlationId()).contains("of-the-outbox");
        assertThat(message.causationId()).contains("of-the-event");
        assertThat(Attributes.defaults()
                        .correlationIdFrom("x")
                        .read(raw.toBuilder().header("x", "named").build(), NOTHING)
                        .correlationId())
                .contains("named");
    }

    @Test
    void aLetterSaysHowItsMessageCame() {
        MessageReader<Message> reader = MessageReader.of(raw -> new MessageReader.Delivered(
                raw,
                new Attributes.Broker(null, null, null, null, "c"),
                List.of(
                        new Header(DeliveryHeaders.TOPIC, "orders.dead-letters"),
                        new Header(DeliveryHeaders.PRIORITY, "7"))));
        Message letter = Message.builder()
                .header("idem-origin-topic", "orders")
                .header("idem-origin-routing-key", "eu.orders")
                .header("idem-origin-exchange", "")
                .build();
        Message read = reader.readLetter(letter);
        assertThat(read.header(DeliveryHeaders.TOPIC)).contains("orders");
        assertThat(read.header(DeliveryHeaders.ROUTING_KEY)).contains("eu.orders");
        assertThat(read.header(DeliveryHeaders.EXCHANGE)).isEmpty();
        assertThat(read.header(DeliveryHeaders.PRIORITY)).contains("7");
        assertThat(read.correlationId()).contains("c");
        assertThat(reader.read(letter).header(DeliveryHeaders.TOPIC)).contains("orders.dead-letters");
        assertThat(reader.read(letter).header(DeliveryHeaders.ROUTING_KEY))
                .as("forged")
                .isEmpty();
    }
}
