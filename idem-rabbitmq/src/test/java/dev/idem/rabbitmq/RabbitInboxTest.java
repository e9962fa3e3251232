package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.test.MemoryStore;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
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
    @DisplayName("what is missing or refused is waited for, and said in the broker's own words")
    void whatIsMissingIsNamed() throws Exception {
        try (Scene scene = new Scene()) {
            var consumer = scene.single(message -> {});
            String missing = scene.bench.queue + "-missing";
            RabbitInboxListener misspelt =
                    scene.keep(RabbitInbox.builder(scene.bench.factory, missing, consumer, scene.inbox)
                            .keepOrder()
                            .listen());
            awaitWords(misspelt, "NOT_FOUND - no queue '" + missing + "'");
            assertThat(misspelt.waiting().orElseThrow().what()).isEqualTo("queue " + missing);
            awaitWords(
                    scene.listen(how -> how.declare(false), consumer),
                    scene.bench.queue + ".dead-letters does not exist");
            ConnectionFactory elsewhere = Bench.factory(scene.bench.server);
            elsewhere.setVirtualHost("no-such-vhost");
            awaitWords(scene.listen(elsewhere, how -> how, consumer), "vhost no-such-vhost not found");
            ConnectionFactory stranger = Bench.factory(scene.bench.server);
            stranger.setPassword("wrong");
            awaitWords(scene.listen(stranger, how -> how, consumer), "ACCESS_REFUSED");
            scene.bench.with(
                    channel -> channel.queueDeclare(scene.bench.queue + ".retry.1000", true, false, false, Map.of()));
            awaitWords(scene.listen(how -> how.delays(Duration.ofSeconds(1)), consumer), "exists with other arguments");
            scene.bench.with(channel -> channel.queueDeclare(missing, true, false, false, null));
            Scene.until("it runs", () -> misspelt.state() == ListenerState.RUNNING);
            assertThat(misspelt.waiting()).isEmpty();
            misspelt.close();
            scene.bench.with(channel -> {
                channel.queueDelete(missing);
                channel.queueDelete(missing + ".dead-letters");
            });
        }
    }

    private static void awaitWords(RabbitInboxListener listener, String words) throws Exception {
        Scene.until(
                words,
                () -> listener.state() == ListenerState.WAITING
                        && listener.waiting().map(Waiting::why).orElse("").contains(words));
        assertThat(listener.failure()).isEmpty();
    }

    @Test
    void pausedItTakesNothingAndTellsWhatIsLeft() throws Exception {
        try (Scene scene = new Scene()) {
            RabbitInboxListener listener = scene.listen(how -> how, scene.single(message -> {}));
            Scene.until("it runs", () -> listener.state() == ListenerState.RUNNING);
            listener.pause();
            assertThat(listener.state()).isEqualTo(ListenerState.PAUSED);
            scene.bench.send(0, 10);
            Scene.until("the lag is known", () -> listener.lag().equals(OptionalLong.of(10)));
            assertThat(scene.runs).isEmpty();
            listener.restart();
            Scene.until("it is paused again", () -> listener.lag().equals(OptionalLong.of(10)));
            assertThat(listener.state()).isEqualTo(ListenerState.PAUSED);
            assertThat(scene.runs).isEmpty();
            listener.resume();
            scene.awaitEachOnce(10);
            assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
        }
    }

    @Test
    void aHandlerMayCloseItsListener() throws Exception {
        try (Scene scene = new Scene()) {
            AtomicReference<RabbitInboxListener> own = new AtomicReference<>();
            own.set(scene.listen(how -> how, scene.single(message -> own.get().close())));
            scene.bench.send(0, 3);
            Scene.until("it is closed", () -> own.get().state() == ListenerState.CLOSED);
            assertThat(scene.effects()).isNotEmpty();
            int left = 3 - scene.effects().size();
            Scene.until("what is done is acknowledged", () -> scene.bench.messages() == left);
        }
    }

    @Test
    void aQueueThatIsDeletedIsWaitedFor() throws Exception {
        try (Scene scene = new Scene()) {
            RabbitInboxListener listener = scene.listen(how -> how, scene.single(message -> {}));
            Scene.until("it runs", () -> listener.state() == ListenerState.RUNNING);
            scene.bench.with(channel -> channel.queueDelete(scene.bench.queue));
            Scene.until("it waits", () -> listener.state() == ListenerState.WAITING);
            scene.bench.with(channel -> channel.queueDeclare(scene.bench.queue, true, false, false, null));
            scene.bench.send(0, 3);
            scene.awaitEachOnce(3);
            Scene.until("it runs", () -> listener.state() == ListenerState.RUNNING);
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
            RabbitInboxListener listener = scene.listen(nowhere, how -> how, scene.single(message -> {}));
            awaitWords(listener, "Connection refused");
            listener.close(Duration.ofSeconds(5));
            assertThat(listener.state()).isEqualTo(ListenerState.CLOSED);
        }
    }
}
