package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.impl.LongStringHelper;
import dev.idem.Header;
import dev.idem.Message;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.MessageReader;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("quick")
class RabbitMessagesTest {
    private static final byte[] BODY = {1, 2, 3};

    private static Message read(MessageReader<Delivery> reader, BasicProperties properties) {
        return reader.read(new Delivery(new Envelope(1, false, "", "orders"), properties, BODY));
    }

    @Test
    void propertiesAreTheAttributes() {
        Message message = read(
                RabbitMessages.reader(),
                new BasicProperties.Builder()
                        .messageId("m1")
                        .type("created")
                        .contentType("text/plain")
                        .timestamp(new Date(1_000))
                        .headers(Map.of("ordering-key", "customer-7"))
                        .build());
        assertThat(message.id()).contains("m1");
        assertThat(message.type()).contains("created");
        assertThat(message.contentType()).contains("text/plain");
        assertThat(message.eventTime()).contains(Instant.ofEpochSecond(1));
        assertThat(message.orderingKey()).contains("customer-7");
        assertThat(message.position()).isEmpty();
        assertThat(message.payload()).isEqualTo(BODY);
    }

    @Test
    void headersComeBeforeCloudEventsAndTheseBeforeProperties() {
        BasicProperties properties = new BasicProperties.Builder()
                .messageId("property")
                .headers(Map.of(
                        "cloudEvents:id", "event",
                        "cloudEvents:source", "shop",
                        "cloudEvents:partitionkey", "p",
                        "x-id", "header"))
                .build();
        Message message = read(RabbitMessages.reader(), properties);
        assertThat(message.id()).contains("event");
        assertThat(message.source()).contains("shop");
        assertThat(message.orderingKey()).contains("p");
        var named = RabbitMessages.reader().attributes(Attributes.defaults().idFrom("x-id"));
        assertThat(read(named, properties).id()).contains("header");
        var taken = RabbitMessages.reader()
                .idFrom(delivery -> delivery.getEnvelope().getRoutingKey() + "-1");
        assertThat(read(taken, properties).id()).contains("orders-1");
    }

    @Test
    void everyTypeOfHeaderHasItsForm() {
        Map<String, Object> table = new HashMap<>();
        table.put("long", LongStringHelper.asLongString(new byte[] {(byte) 0xff, 0}));
        table.put("bytes", new byte[] {9});
        table.put("number", 7);
        table.put("decimal", new BigDecimal("1.50"));
        table.put("flag", true);
        table.put("time", new Date(0));
        table.put("void", null);
        table.put("list", Arrays.asList("a", 2));
        BasicProperties properties =
                new BasicProperties.Builder().headers(table).build();
        assertThat(Tables.headers(properties))
                .containsExactlyInAnyOrder(
                        new Header("long", new byte[] {(byte) 0xff, 0}),
                        new Header("bytes", new byte[] {9}),
                        new Header("number", "7"),
                        new Header("decimal", "1.50"),
                        new Header("flag", "true"),
                        new Header("time", "1970-01-01T00:00:00Z"),
                        new Header("void", ""),
                        new Header("list", "a"),
                        new Header("list", "2"));
    }

    @Test
    void aCopyKeepsTypesAndLeavesWhatOnlyTheFirstSenderMaySay() {
        BasicProperties original = new BasicProperties.Builder()
                .messageId("m1")
                .userId("alice")
                .expiration("1000")
                .headers(Map.of("number", 7, "CC", List.of("other"), "x-death", List.of(), "idem-failures", "1"))
                .build();
        var table =
                Tables.table(original, List.of(new Header("idem-failures", "2")), Set.of("number", "CC", "x-death"));
        assertThat(table).isEqualTo(Map.of("number", 7, "idem-failures", "2"));
        BasicProperties copy = Tables.copy(original, table);
        assertThat(copy.getMessageId()).isEqualTo("m1");
        assertThat(copy.getDeliveryMode()).isEqualTo(2);
        assertThat(copy.getUserId()).isNull();
        assertThat(copy.getExpiration()).isNull();
    }

    @Test
    void headersOfOurOwnAreNotTheProducersToSet() {
        BasicProperties properties = new BasicProperties.Builder()
                .headers(Map.of("idem-failures", "3", "Idem-Seal", "x", "other", "1"))
                .build();
        assertThat(read(RabbitMessages.reader(), properties).headers())
                .containsExactly(new Header("other", "1"), new Header(DeliveryHeaders.ROUTING_KEY, "orders"));
    }
}
