package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Policy;
import dev.idem.TerminalException;
import dev.idem.broker.ListenerState;
import dev.idem.servers.SkipWithoutServer;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Messages of a stream stay in it, and nobody but the consumer knows how far it is. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitStreamTest {
    private static final Map<String, Object> STREAM = Map.of("x-queue-type", "stream");

    private static Consumer watermarks(Scene scene, Scene.Before before) {
        return scene.consumer(before)
                .watermark()
                .policy(Policy.defaults().withBatchLimits(5, 1_000_000))
                .build();
    }

    @Test
    @DisplayName("60 messages, of which most come while nobody listens or the connection is cut: 60 effects, in order")
    void nothingIsPassedOver() throws Exception {
        try (Scene scene = new Scene(STREAM)) {
            scene.bench.send(0, 20);
            Consumer consumer = watermarks(scene, message -> {});
            RabbitInboxListener first = scene.listen(how -> how, consumer);
            Scene.until("the first 20", () -> scene.effects().size() == 20);
            assertThat(first.state()).isEqualTo(ListenerState.RUNNING);
            assertThat(first.lag()).isEmpty();
            first.close();
            scene.bench.send(20, 40);
            RabbitInboxListener second = scene.listen(how -> how, consumer);
            Scene.until("the next 20", () -> scene.effects().size() == 40);
            second.pause();
            scene.bench.send(40, 50);
            second.resume();
            scene.bench.server.closeConnections();
            scene.bench.send(50, 60);
            Scene.until("all 60", () -> scene.effects().size() == 60);
            assertThat(scene.effects())
                    .isEqualTo(IntStream.range(0, 60).mapToObj(i -> "m" + i).toList());
            assertThat(scene.runs).as("nothing is run again").hasSize(60);
        }
    }

    @Test
    @DisplayName(
            "a poisonous message of a stream is set aside, those behind it are done, and a forged offset is not believed")
    void poison() throws Exception {
        try (Scene scene = new Scene(STREAM)) {
            scene.bench.send(
                    Bench.id("m0").headers(Map.of("x-stream-offset", 1_000L)).build(), "p");
            scene.bench.send(1, 10);
            scene.listen(how -> how, watermarks(scene, message -> {
                if (message.id().orElseThrow().equals("m3")) {
                    throw new TerminalException("never", null);
                }
            }));
            Scene.until("the others are done", () -> scene.effects().size() == 9);
            assertThat(scene.effects()).isEqualTo(List.of("m0", "m1", "m2", "m4", "m5", "m6", "m7", "m8", "m9"));
            assertThat(scene.letters()).hasSize(1);
        }
    }

    @Test
    @DisplayName("a stream with a consumer that has no watermarks, and the other way round, are refused")
    void wrongKind() throws Exception {
        try (Scene stream = new Scene(STREAM);
                Scene queue = new Scene();
                Scene quorum = new Scene(Map.of("x-queue-type", "quorum"))) {
            awaitFailure(stream.listen(how -> how, stream.single(message -> {})), "is a stream");
            awaitFailure(queue.listen(how -> how, watermarks(queue, message -> {})), "is not a stream");
            awaitFailure(quorum.listen(how -> how, watermarks(quorum, message -> {})), "is not a stream");
        }
    }

    @Test
    @DisplayName("a stream that was made anew is not taken for the old one")
    void madeAnew() throws Exception {
        try (Scene scene = new Scene(STREAM)) {
            scene.bench.send(0, 20);
            Consumer consumer = watermarks(scene, message -> {});
            RabbitInboxListener first = scene.listen(how -> how, consumer);
            Scene.until("the first 20", () -> scene.effects().size() == 20);
            first.close();
            scene.bench.with(channel -> {
                channel.queueDelete(scene.bench.queue);
                channel.queueDeclare(scene.bench.queue, true, false, false, STREAM);
            });
            RabbitInboxListener second = scene.listen(how -> how, consumer);
            Scene.until("it runs", () -> second.state() == ListenerState.RUNNING);
            scene.bench.send(20, 25);
            awaitFailure(second, "made anew, choose another streamName");
            scene.listen(how -> how.streamName("second"), consumer);
            Scene.until("those of the new one", () -> scene.effects().size() == 25);
        }
    }

    private static void awaitFailure(RabbitInboxListener listener, String words) throws Exception {
        Scene.until(words, () -> listener.state() == ListenerState.FAILED);
        assertThat(listener.failure()).hasValueSatisfying(why -> assertThat(why).hasMessageContaining(words));
    }
}
