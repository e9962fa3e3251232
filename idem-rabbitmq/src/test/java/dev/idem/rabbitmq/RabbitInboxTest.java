package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.broker.ListenerState;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.test.MemoryStore;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is refused, and when. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitInboxTest {
    @Test
    @DisplayName("MQ-11 an unlimited prefetch is refused")
    void prefetch() {
        try (Inbox inbox = Inbox.create(new MemoryStore())) {
            RabbitInbox.Builder builder =
                    RabbitInbox.builder(new ConnectionFactory(), "orders", Consumer.of("billing"), inbox);
            assertThatThrownBy(() -> builder.prefetch(0)).hasMessageContaining("between 1 and 10000");
            assertThatThrownBy(() -> builder.prefetch(10_001)).hasMessageContaining("between 1 and 10000");
            assertThatThrownBy(() -> builder.parallelism(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> builder.delays(Duration.ofMillis(1))).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void whatTheBrokerRefusesIsSaidAtTheStart() throws Exception {
        try (Scene scene = new Scene()) {
            var consumer = scene.single(message -> {});
            assertThatThrownBy(() -> RabbitInbox.listen(scene.bench.factory, "no-such", consumer, scene.inbox))
                    .isInstanceOf(IdemException.class)
                    .hasMessageContaining("queue no-such does not exist");
            assertThatThrownBy(() -> scene.listen(how -> how.declare(false), consumer))
                    .hasMessageContaining(scene.bench.queue + ".dead-letters does not exist");
            scene.bench.with(
                    channel -> channel.queueDeclare(scene.bench.queue + ".retry.1000", true, false, false, Map.of()));
            assertThatThrownBy(() -> scene.listen(how -> how.delays(Duration.ofSeconds(1)), consumer))
                    .hasMessageContaining("exists with other arguments");
            ConnectionFactory stranger = Bench.factory(scene.bench.server);
            stranger.setPassword("wrong");
            assertThatThrownBy(() -> RabbitInbox.listen(stranger, scene.bench.queue, consumer, scene.inbox))
                    .hasMessageContaining("credentials");
        }
    }

    @Test
    void aQueueThatIsDeletedIsWaitedFor() throws Exception {
        try (Scene scene = new Scene()) {
            RabbitListener listener = scene.listen(how -> how, scene.single(message -> {}));
            assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
            scene.bench.with(channel -> channel.queueDelete(scene.bench.queue));
            Scene.until("it waits", () -> listener.state() == ListenerState.WAITING);
            scene.bench.with(channel -> channel.queueDeclare(scene.bench.queue, true, false, false, null));
            scene.bench.send(0, 3);
            scene.awaitEachOnce(3);
            assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
            listener.close();
            assertThat(listener.state()).isEqualTo(ListenerState.CLOSED);
        }
    }

    @Test
    void aBrokerThatIsNotThereIsWaitedFor() throws Exception {
        try (Scene scene = new Scene()) {
            ConnectionFactory nowhere = new ConnectionFactory();
            nowhere.setHost("127.0.0.1");
            nowhere.setPort(1);
            RabbitListener listener = scene.listen(nowhere, how -> how, scene.single(message -> {}));
            assertThat(listener.state()).isEqualTo(ListenerState.STARTING);
            listener.close(Duration.ofSeconds(5));
            assertThat(listener.state()).isEqualTo(ListenerState.CLOSED);
        }
    }
}
