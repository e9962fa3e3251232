package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.RetryableException;
import dev.idem.StoreException;
import dev.idem.broker.Relay;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.SkipWithoutServer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** From an outbox into a queue, and out of it. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitPublisherTest {
    private static final Outbox SHIPMENTS = Outbox.named("shipments");

    private static Message message(String id) {
        return Message.of(id, new byte[] {1});
    }

    @Test
    @DisplayName(
            "connections of a relay are killed again and again: each output is handled once, in the order of its key")
    void killedConnections() throws Exception {
        try (Scene scene = new Scene();
                RabbitPublisher publisher = RabbitPublisher.toQueue(scene.bench.factory, scene.bench.queue)) {
            Consumer orders = Consumer.named("orders")
                    .publishesTo(SHIPMENTS)
                    .otherwise((order, tx) -> {
                        tx.publish(
                                "shipments",
                                Message.builder()
                                        .type("shipped")
                                        .eventTime(Instant.ofEpochSecond(1_700_000_000))
                                        .orderingKey(order.orderingKey().orElseThrow())
                                        .payload(order.id().orElseThrow().getBytes(StandardCharsets.UTF_8))
                                        .build());
                        return null;
                    })
                    .build();
            scene.inbox.start(
                    Relay.of(SHIPMENTS, publisher, QueuePolicy.inTransaction().withBatch(20)));
            for (int i = 0; i < 200; i++) {
                Message order =
                        Message.builder().id("m" + i).orderingKey("k" + i % 4).build();
                scene.inbox.accept(orders, order);
                if (i % 50 == 25) {
                    scene.bench.server.closeConnections();
                }
            }
            // Not before: a broker may give a new connection what comes behind messages that a killed one still has.
            scene.listen(builder -> builder, scene.single(shipment -> {}));
            scene.awaitEachOnce(200);
            Map<String, Integer> last = new HashMap<>();
            for (Message shipment : List.copyOf(scene.runs)) {
                String order = new String(shipment.payload(), StandardCharsets.UTF_8);
                int number = Integer.parseInt(order.substring(1));
                Integer before = last.put(shipment.orderingKey().orElseThrow(), number);
                assertThat(before == null || before <= number).isTrue();
                assertThat(shipment.type()).contains("shipped");
                assertThat(shipment.source()).contains("orders");
                assertThat(shipment.eventTime()).contains(Instant.ofEpochSecond(1_700_000_000));
            }
        }
    }

    @Test
    @DisplayName("what no queue receives has failed, and the others of the round have not")
    void unroutable() throws Exception {
        try (Scene scene = new Scene();
                RabbitPublisher publisher = RabbitPublisher.toExchange(
                        scene.bench.factory,
                        "",
                        message -> message.id().orElseThrow().equals("b") ? "nobody" : scene.bench.queue)) {
            Map<Integer, Exception> failed = publisher.publish(List.of(message("a"), message("b"), message("c")));
            assertThat(failed).containsOnlyKeys(1);
            assertThat(failed.get(1)).isInstanceOf(RetryableException.class).hasMessageContaining("nobody");
            Scene.until("the others are there", () -> scene.bench.messages() == 2);
        }
    }

    @Test
    @DisplayName("a queue that is full refuses: the messages are tried again, and blamed for nothing")
    void full() throws Exception {
        try (Scene scene = new Scene(Map.of("x-max-length", 3, "x-overflow", "reject-publish"));
                RabbitPublisher publisher = RabbitPublisher.toQueue(scene.bench.factory, scene.bench.queue)) {
            List<Message> many = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                many.add(message("m" + i));
            }
            Map<Integer, Exception> failed = publisher.publish(many);
            assertThat(failed.values()).isNotEmpty().allMatch(StoreException.class::isInstance);
            assertThat(failed.size() + scene.bench.messages()).isGreaterThanOrEqualTo(20);
        }
    }
}
