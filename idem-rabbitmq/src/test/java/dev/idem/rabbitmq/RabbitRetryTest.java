package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import dev.idem.Header;
import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.servers.SkipWithoutServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitRetryTest {
    private static final Duration SHORT = Duration.ofMillis(200);

    @Test
    @DisplayName(
            "MQ-09 RO-01 the own count of failures survives listeners and is not the broker's; a retry is the same message")
    void ownCount() throws Exception {
        try (Scene scene = new Scene()) {
            String other = scene.bench.queue + "-cc";
            scene.bench.with(channel -> {
                channel.queueDeclare(other, true, false, false, null);
                channel.queueBind(scene.bench.queue, "amq.topic", scene.bench.queue + ".created");
                channel.queueBind(other, "amq.topic", other);
                channel.basicPublish(
                        "amq.topic",
                        scene.bench.queue + ".created",
                        new BasicProperties.Builder()
                                .messageId("m0")
                                .type("created")
                                .contentType("text/plain")
                                .timestamp(Date.from(Instant.parse("2026-01-01T00:00:00Z")))
                                .expiration("60000")
                                .headers(Map.of(
                                        "CC", List.of(other),
                                        "number", 7,
                                        "twice", List.of("a", "b"),
                                        "x-death", List.of(Map.of("count", 99L, "queue", scene.bench.queue))))
                                .build(),
                        "payload".getBytes(StandardCharsets.UTF_8));
            });
            UnaryOperator<RabbitInbox.Builder> how = builder ->
                    builder.delays(SHORT).retry(RetryPolicy.fixed(SHORT).withMaxAttempts(3));
            var consumer = scene.single(message -> {
                throw new IllegalStateException("always");
            });
            RabbitInboxListener first = scene.listen(how, consumer);
            Scene.until("a first failure", () -> !scene.runs.isEmpty());
            first.close(Duration.ofSeconds(10));
            scene.listen(how, consumer);
            Scene.until("it is set aside", () -> scene.letters().size() == 1);
            assertThat(scene.runs).hasSize(3).allSatisfy(RabbitRetryTest::isTheMessage);
            assertThat(scene.letters()).singleElement().satisfies(letter -> {
                isTheMessage(letter.message());
                assertThat(letter.about().attempts()).isEqualTo(3);
                assertThat(letter.about().origin())
                        .containsEntry("exchange", "amq.topic")
                        .containsEntry("routing-key", scene.bench.queue + ".created")
                        .containsEntry("queue", scene.bench.queue);
            });
            assertThat(scene.bench.server.messages(other))
                    .as("copies for others")
                    .isEqualTo(1);
            scene.bench.with(channel -> channel.queueDelete(other));
        }
    }

    private static void isTheMessage(Message message) {
        assertThat(message.id()).contains("m0");
        assertThat(message.type()).contains("created");
        assertThat(message.contentType()).contains("text/plain");
        assertThat(message.eventTime()).contains(Instant.parse("2026-01-01T00:00:00Z"));
        assertThat(message.payload()).isEqualTo("payload".getBytes(StandardCharsets.UTF_8));
        assertThat(message.headers("number")).extracting(Header::text).containsExactly("7");
        assertThat(message.headers("twice")).extracting(Header::text).containsExactly("a", "b");
    }

    @Test
    @DisplayName("MQ-08 a handler that always fails is called at the rate of its policy, and holds up nobody")
    void boundedRate() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 1);
            scene.listen(
                    how -> how.delays(SHORT).retry(RetryPolicy.fixed(SHORT).withMaxAttempts(1_000)),
                    scene.single(message -> {
                        if (message.id().orElseThrow().equals("m0")) {
                            throw new IllegalStateException("always");
                        }
                    }));
            Scene.until("a first failure", () -> !scene.runs.isEmpty());
            int before = scene.runs.size();
            Thread.sleep(3_000);
            assertThat(scene.runs.size() - before).as("runs in three seconds").isBetween(2, 16);
            scene.bench.send(1, 11);
            Scene.until("the others are done", () -> scene.effects().size() == 10);
        }
    }

    @Test
    @DisplayName("RO-02 what keeps its order waits here, and its key waits behind it")
    void keepOrder() throws Exception {
        try (Scene scene = new Scene()) {
            for (int i = 0; i < 6; i++) {
                String key = i % 2 == 0 ? "even" : "odd";
                scene.bench.send(
                        Bench.id("m" + i).headers(Map.of("ordering-key", key)).build(), "p");
            }
            scene.listen(
                    how -> how.keepOrder().parallelism(2).retry(RetryPolicy.fixed(Duration.ofMillis(1_500))),
                    scene.single(message -> {
                        boolean first = scene.runs.stream()
                                        .filter(run -> run.id().equals(message.id()))
                                        .count()
                                == 1;
                        if (first && message.id().orElseThrow().equals("m0")) {
                            throw new IllegalStateException("once");
                        }
                    }));
            scene.awaitEachOnce(6);
            assertThat(scene.effects()).containsSubsequence("m0", "m2", "m4").containsSubsequence("m1", "m3", "m5");
            assertThat(scene.effects().subList(0, 3))
                    .as("the other key did not wait")
                    .containsExactly("m1", "m3", "m5");
        }
    }

    @Test
    @DisplayName("what waits in a retry queue survives a kill of the broker")
    void postponedSurvivesAKill() throws Exception {
        try (Scene scene = new Scene()) {
            scene.listen(
                    how -> how.delays(Duration.ofSeconds(1))
                            .retry(RetryPolicy.fixed(Duration.ofSeconds(1)).withMaxAttempts(100)),
                    scene.single(message -> {
                        if (scene.runs.size() <= 20) {
                            throw new IllegalStateException("not yet");
                        }
                    }));
            // A quorum queue that RabbitMQ 3.10 declared a second before it is killed may never find a leader again.
            Thread.sleep(8_000);
            scene.bench.send(0, 20);
            Scene.until("all have failed", () -> scene.runs.size() >= 20);
            scene.bench.server.killHard();
            scene.bench.server.restart();
            scene.awaitEachOnce(20);
        }
    }
}
