package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import dev.idem.servers.SkipWithoutServer;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A message that the client cannot read ends its connection, and comes again over the next one. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitUnreadableTest {
    private static final int TOO_DEEP = 60;

    @Test
    @DisplayName("headers nested too deep: named, those before it are done, and a delivery limit takes it out")
    void nestedHeaders() throws Exception {
        String aside = "unreadable-" + System.nanoTime();
        try (Scene scene = new Scene(Map.of(
                "x-queue-type",
                "quorum",
                "x-delivery-limit",
                6,
                "x-dead-letter-exchange",
                "",
                "x-dead-letter-routing-key",
                aside))) {
            scene.bench.with(channel -> channel.queueDeclare(aside, true, false, false, null));
            scene.bench.send(0, 10);
            Map<String, Object> nested = Map.of("deepest", 1);
            for (int i = 0; i < TOO_DEEP; i++) {
                nested = Map.of("deeper", nested);
            }
            scene.bench.send(Bench.id("bad").headers(nested).build(), "p");
            scene.bench.send(10, 50);
            RabbitInboxListener listener = scene.listen(how -> how, scene.single(message -> {}));
            awaitWords(listener, "Too many levels of nested tables");
            Scene.until("those before it are done", () -> scene.effects().size() >= 10);
            scene.awaitEachOnce(50);
            Scene.until("the broker took it out", () -> scene.bench.server.messages(aside) == 1);
            Scene.until("it runs", () -> listener.state() == ListenerState.RUNNING);
            scene.bench.with(channel -> channel.queueDelete(aside));
        }
    }

    @Test
    @DisplayName("a body that is larger than the client allows: named, with what to do")
    void largeBody() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 10);
            scene.bench.send(Bench.id("m10").build(), "x".repeat(20_000));
            scene.bench.send(11, 20);
            ConnectionFactory small = Bench.factory(scene.bench.server);
            small.setMaxInboundMessageBodySize(10_000);
            RabbitInboxListener listener = scene.listen(small, how -> how, scene.single(message -> {}));
            awaitWords(listener, "setMaxInboundMessageBodySize");
            Scene.until("those before it are done", () -> scene.effects().size() == 10);
            assertThat(listener.state()).isEqualTo(ListenerState.WAITING);
            listener.close();
            scene.listen(how -> how, scene.single(message -> {}));
            scene.awaitEachOnce(20);
        }
    }

    private static void awaitWords(RabbitInboxListener listener, String words) throws Exception {
        Scene.until(
                words,
                () -> listener.state() == ListenerState.WAITING
                        && listener.waiting().map(Waiting::why).orElse("").contains(words));
    }
}
