package dev.idem.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.broker.Relay;
import dev.idem.queue.Outbox;
import dev.idem.servers.SkipWithoutServer;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Records that a topic does not take, and topics that are not there. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaRefusalTest {
    private static KafkaPublisher publisher(String topic) {
        return KafkaPublisher.to(
                topic, Map.of("bootstrap.servers", KafkaBed.server().address()));
    }

    private static String topic(Map<String, String> settings) throws Exception {
        String topic = "refusing-" + UUID.randomUUID();
        NewTopic small = new NewTopic(topic, 1, (short) 1).configs(settings);
        KafkaBed.admin().createTopics(List.of(small)).all().get();
        return topic;
    }

    private static Message message(String id, int size) {
        return Message.of(id, new byte[size]);
    }

    @Test
    @DisplayName("RO-01 a record that the topic never takes is parked, and those around it are published")
    void parked() throws Exception {
        Outbox outbox = Outbox.named("large");
        Consumer orders = Consumer.named("orders")
                .publishesTo(outbox)
                .otherwise((order, tx) -> {
                    for (int i = 0; i < 10; i++) {
                        tx.publish("large", message("m" + i, i == 4 ? 5_000 : 10));
                    }
                    return null;
                })
                .build();
        String topic = topic(Map.of("max.message.bytes", "2000"));
        try (KafkaBed bed = new KafkaBed(1);
                KafkaPublisher publisher = publisher(topic)) {
            Inbox inbox = bed.inbox();
            inbox.accept(orders, message("order", 1));
            inbox.start(Relay.of(outbox, publisher));
            KafkaBed.until(
                    "the large one is parked, the others are out",
                    () -> inbox.queueStats("outbox:large").parked() == 1
                            && inbox.queueStats("outbox:large").pending() == 0);
            inbox.close();
        }
    }

    @Test
    @DisplayName("too large for the topic, too large for the client, and without a key where one is needed: for good")
    void refusedForGood() throws Exception {
        String topic = topic(Map.of("max.message.bytes", "2000", "cleanup.policy", "compact"));
        try (KafkaPublisher publisher = publisher(topic)) {
            Message keyed = Message.builder().id("k").orderingKey("k").build();
            Map<Integer, Exception> failed = publisher.publish(List.of(
                    keyed,
                    keyed.toBuilder().payload(new byte[5_000]).build(),
                    keyed.toBuilder().payload(new byte[(64 << 20) + 1]).build(),
                    message("no key", 1)));
            assertThat(failed).containsOnlyKeys(1, 2, 3);
            assertThat(failed.values()).allMatch(TerminalException.class::isInstance);
            assertThat(failed.get(1)).hasMessageContaining("raise max.message.bytes");
            assertThat(failed.get(2)).hasMessageContaining("publish a reference");
            assertThat(failed.get(3)).hasMessageContaining("does not take the record");
        }
    }

    @Test
    @DisplayName(
            "a topic that does not exist is waited for, and the error says so; a name that none can have is refused")
    void unknownTopic() throws Exception {
        String topic = "later-" + UUID.randomUUID();
        try (KafkaPublisher publisher = publisher(topic)) {
            Map<Integer, Exception> failed = publisher.publish(List.of(message("a", 1), message("b", 1)));
            assertThat(failed).containsOnlyKeys(0, 1);
            assertThat(failed.values()).allMatch(StoreException.class::isInstance);
            assertThat(failed.get(0)).hasMessageContaining(topic).hasMessageContaining("create it");
            KafkaBed.createTopic(topic, 1);
            KafkaBed.until(
                    "the topic is there",
                    () -> publisher.publish(List.of(message("a", 1))).isEmpty());
        }
        for (String name : List.of("", "..", "orders/eu", "x".repeat(250))) {
            assertThatThrownBy(() -> publisher(name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no name of a topic");
        }
    }
}
