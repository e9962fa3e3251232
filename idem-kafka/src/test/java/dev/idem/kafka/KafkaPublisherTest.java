package dev.idem.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.broker.Relay;
import dev.idem.queue.Outbox;
import dev.idem.servers.SkipWithoutServer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** From one topic through a database to another. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaPublisherTest {
    private final List<Message> received = Collections.synchronizedList(new ArrayList<>());

    @Test
    @DisplayName(
            "inputs that come twice, each with one output: the receiver handles each once, in the order of its key")
    void throughTheDatabase() throws Exception {
        try (KafkaBed bed = new KafkaBed(3)) {
            String out = bed.topic + "-out";
            KafkaBed.createTopic(out, 3);
            // region outbox-relay
            Outbox shipments = Outbox.named("shipments");
            Consumer orders = Consumer.named("orders")
                    .publishesTo(shipments)
                    .otherwise((order, tx) -> {
                        tx.defer(
                                "INSERT INTO effect (id) VALUES (?)", order.id().orElseThrow());
                        Message shipment = Message.builder()
                                .type("shipment-requested")
                                .orderingKey(order.orderingKey().orElse(null))
                                .payload(order.payload())
                                .build();
                        tx.publish("shipments", shipment);
                    })
                    .build();
            // endregion
            Inbox inbox = bed.inbox();
            Map<String, Object> config = bed.config;
            // region outbox-start
            KafkaPublisher publisher = KafkaPublisher.to(out, config); // to be closed after the inbox
            inbox.start(Relay.of(shipments, publisher));
            // endregion
            bed.listen(orders);
            Map<String, Object> receiving = new HashMap<>(bed.config);
            receiving.put("group.id", "receiver-" + UUID.randomUUID());
            Consumer receiver = Consumer.named("receiver")
                    .otherwise((shipment, tx) -> {
                        tx.defer(
                                "INSERT INTO effect (id) VALUES (?)",
                                "out " + shipment.id().orElseThrow());
                        received.add(shipment);
                        return null;
                    })
                    .build();
            try (KafkaInboxListener listener = KafkaInbox.listen(receiving, List.of(out), receiver, bed.inbox())) {
                bed.send(0, 150);
                bed.send(0, 150);
                bed.awaitEffects(300);
                bed.awaitSettled();
                assertThat(listener.state()).isNotNull();
            }
            bed.assertOnce(300);
            assertThat(received)
                    .hasSize(150)
                    .allMatch(m -> m.type().orElseThrow().equals("shipment-requested"));
            Map<String, Integer> last = new HashMap<>();
            for (Message message : received) {
                String input = message.header(Outbox.CAUSATION_ID).orElseThrow();
                assertThat(message.header(Outbox.CORRELATION_ID)).contains(input);
                int number = Integer.parseInt(input.substring(1));
                Integer before = last.put(message.orderingKey().orElseThrow(), number);
                assertThat(before == null || before < number).isTrue();
            }
            publisher.close();
        }
    }

    @Test
    @DisplayName("a record that the topic never takes is said to be so, and the others of the round are taken")
    void tooLarge() throws Exception {
        String topic = "small-" + UUID.randomUUID();
        NewTopic small = new NewTopic(topic, 1, (short) 1).configs(Map.of("max.message.bytes", "2000"));
        KafkaBed.admin().createTopics(List.of(small)).all().get();
        try (KafkaPublisher publisher = KafkaPublisher.to(
                topic, Map.of("bootstrap.servers", KafkaBed.server().address()))) {
            Map<Integer, Exception> failed = publisher.publish(List.of(
                    Message.of("a", new byte[10]), Message.of("b", new byte[5_000]), Message.of("c", new byte[10])));
            assertThat(failed).containsOnlyKeys(1);
            assertThat(failed.get(1)).isInstanceOf(TerminalException.class);
        }
    }

    @Test
    @DisplayName("a broker that cannot be reached is to blame, and a long list does not wait for each of its messages")
    void unreachable() throws Exception {
        List<Message> many = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            many.add(Message.of("m" + i, new byte[1]));
        }
        long start = System.nanoTime();
        try (KafkaPublisher publisher = KafkaPublisher.to("t", Map.of("bootstrap.servers", "127.0.0.1:1"))) {
            assertThat(publisher.publish(many).values()).hasSize(50).allMatch(StoreException.class::isInstance);
        }
        assertThat((System.nanoTime() - start) / 1_000_000_000).isLessThan(40);
    }
}
