package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.broker.Relay;
import dev.idem.queue.Outbox;
import dev.idem.servers.RabbitServer;
import dev.idem.servers.SkipWithoutServer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a broker refuses closes the channel, and with it all that was on its way: who is to blame? */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitRefusalTest {
    private static final String QUEUE = "small";
    private static final int LARGEST = 100_000;
    private static RabbitServer server;
    private static ConnectionFactory factory;

    @BeforeAll
    static void startBroker() throws Exception {
        server = RabbitServer.start(Map.of("max_message_size", Integer.toString(LARGEST)));
        factory = Bench.factory(server);
        try (var connection = factory.newConnection();
                var channel = connection.createChannel()) {
            channel.queueDeclare(QUEUE, true, false, false, Map.of());
        }
    }

    @AfterAll
    static void stopBroker() {
        if (server != null) {
            server.close();
        }
    }

    private static Message message(String id, int size) {
        return Message.of(id, new byte[size]);
    }

    @Test
    @DisplayName("RO-01 a message that is too large for the broker is parked, and those around it are published")
    void tooLarge() throws Exception {
        Outbox outbox = Outbox.named("large");
        try (Scene scene = new Scene();
                RabbitPublisher publisher = RabbitPublisher.toQueue(factory, QUEUE)) {
            long before = server.messages(QUEUE);
            Consumer orders = Consumer.named("orders")
                    .publishesTo(outbox)
                    .otherwise((order, tx) -> {
                        for (int i = 0; i < 20; i++) {
                            tx.publish("large", message("m" + i, i == 7 || i == 8 ? LARGEST + 1 : 10));
                        }
                        return null;
                    })
                    .build();
            scene.inbox.accept(orders, message("order", 1));
            scene.inbox.start(Relay.of(outbox, publisher));
            Scene.until(
                    "the large ones are parked",
                    () -> scene.inbox.queueStats("outbox:large").parked() == 2);
            Scene.until(
                    "the others are out",
                    () -> scene.inbox.queueStats("outbox:large").pending() == 0);
            assertThat(server.messages(QUEUE) - before).isGreaterThanOrEqualTo(18);
        }
    }

    @Test
    @DisplayName(
            "a message that is too large, or has no place in AMQP, is refused for good, and the error says what to do")
    void refusedForGood() throws Exception {
        try (RabbitPublisher publisher = RabbitPublisher.toExchange(
                factory, "", m -> m.id().orElseThrow().equals("far") ? "x".repeat(300) : QUEUE)) {
            assertThatThrownBy(() -> publisher.publish(List.of(message("big", LARGEST + 1))))
                    .isInstanceOf(TerminalException.class)
                    .hasMessageContaining("larger than")
                    .hasMessageContaining("max_message_size");
            Message headers =
                    message("h", 1).toBuilder().header("h", "x".repeat(200_000)).build();
            assertThatThrownBy(() -> publisher.publish(List.of(headers)))
                    .isInstanceOf(TerminalException.class)
                    .hasMessageContaining("max frame size");
            assertThatThrownBy(() -> publisher.publish(List.of(message("far", 1))))
                    .isInstanceOf(TerminalException.class)
                    .hasMessageContaining("too long");
            assertThat(publisher.publish(List.of(message("good", 1)))).isEmpty();
        }
    }

    @Test
    @DisplayName("an exchange that does not exist is waited for, and the error says so")
    void unknownExchange() throws Exception {
        try (RabbitPublisher publisher = RabbitPublisher.toExchange(factory, "nowhere", m -> "k")) {
            assertThatThrownBy(() -> publisher.publish(List.of(message("a", 1), message("b", 1))))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("no exchange 'nowhere': declare it");
            try (var connection = factory.newConnection();
                    var channel = connection.createChannel()) {
                channel.exchangeDeclare("nowhere", "fanout");
                channel.queueBind(QUEUE, "nowhere", "");
            }
            assertThat(publisher.publish(List.of(message("a", 1), message("b", 1))))
                    .isEmpty();
        }
    }
}
