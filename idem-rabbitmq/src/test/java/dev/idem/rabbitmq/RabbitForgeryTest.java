package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Header;
import dev.idem.IdemException;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.Letter;
import dev.idem.servers.SkipWithoutServer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Producers, and those who can write to the queue of the letters, are not trusted. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitForgeryTest {
    private static final List<String> OURS = List.of(
            "idem-failures",
            "idem-seal",
            "idem-letter",
            "idem-consumer",
            "idem-reason",
            "idem-detail",
            "idem-error",
            "idem-attempts",
            "idem-time",
            "idem-replay",
            "idem-replays",
            "idem-replayed",
            "idem-replay-session",
            "idem-origin-exchange",
            "idem-origin-routing-key",
            "idem-origin-queue",
            "Idem-Anything");

    @Test
    @DisplayName("every header of ours, forged by a producer, is ignored: attempts, origin and seal too")
    void forgedByAProducer() throws Exception {
        try (Scene scene = new Scene()) {
            for (String value : List.of("2147483647", "-2147483648", "forged")) {
                Map<String, Object> headers = new HashMap<>(Map.of("own", "1"));
                OURS.forEach(name -> headers.put(name, value));
                scene.bench.send(Bench.id("m" + value).headers(headers).build(), "p");
            }
            Duration delay = Duration.ofMillis(200);
            scene.listen(
                    how -> how.delays(delay).retry(RetryPolicy.fixed(delay).withMaxAttempts(3)),
                    scene.single(message -> {
                        throw new IllegalStateException("always");
                    }));
            Scene.until("all are set aside", () -> scene.letters().size() == 3);
            assertThat(scene.runs)
                    .hasSize(9)
                    .allSatisfy(run -> assertThat(run.headers())
                            .contains(new Header("own", "1"))
                            .filteredOn(header -> DeadLetter.isOurs(header.name()))
                            .containsExactlyInAnyOrder(
                                    new Header(DeliveryHeaders.QUEUE, scene.bench.queue),
                                    new Header(DeliveryHeaders.ROUTING_KEY, scene.bench.queue)));
            assertThat(scene.letters()).allSatisfy(letter -> {
                assertThat(letter.about().attempts()).isEqualTo(3);
                assertThat(letter.about().replayForbidden()).isFalse();
                assertThat(letter.about().origin())
                        .isEqualTo(
                                Map.of("exchange", "", "routing-key", scene.bench.queue, "queue", scene.bench.queue));
                assertThat(letter.message().headers())
                        .extracting(Header::name)
                        .doesNotContain("idem-replayed", "idem-replay-session", "Idem-Anything")
                        .doesNotHaveDuplicates();
            });
        }
    }

    @Test
    @DisplayName("a forged letter does not choose where it is sent again")
    void forgedOrigin() throws Exception {
        try (Scene scene = new Scene()) {
            String place = scene.bench.queue + ".dead-letters";
            String victim = scene.bench.queue + ".victim";
            scene.bench.with(channel -> {
                channel.queueDeclare(place, true, false, false, null);
                channel.queueDeclare(victim, true, false, false, null);
                Map<String, Object> headers =
                        Map.of("idem-consumer", "payments", "idem-reason", "FAILED", "idem-origin-queue", victim);
                channel.basicPublish("", place, Bench.id("m0").headers(headers).build(), new byte[] {1});
            });
            Scene.until("it is there", () -> scene.letters().size() == 1);
            try (RabbitDeadLetters letters = scene.bench.deadLetters()) {
                Letter letter = letters.next().orElseThrow();
                assertThatThrownBy(() -> letters.sendAgain(letter))
                        .isInstanceOf(IdemException.class)
                        .hasMessageContaining("allowed origins");
            }
            assertThat(scene.bench.server.messages(victim)).isZero();
            assertThat(scene.letters()).hasSize(1);
            try (RabbitDeadLetters letters =
                    RabbitDeadLetters.open(scene.bench.factory, place, Attributes.defaults(), Set.of(victim))) {
                letters.sendAgain(letters.next().orElseThrow());
            }
            Scene.until("it was sent where it may go", () -> scene.bench.server.messages(victim) == 1);
            scene.bench.with(channel -> channel.queueDelete(victim));
        }
    }

    @Test
    @DisplayName("headers that fill the frame: our part of the letter is shortened, and nothing of the message")
    void fullFrame() throws Exception {
        try (Scene scene = new Scene()) {
            for (int room : new int[] {300, 200, 20}) {
                String filler = "x".repeat(131_072 - 8 - 80 - room);
                scene.bench.send(
                        Bench.id("m" + room).headers(Map.of("filler", filler)).build(), "p");
            }
            scene.listen(how -> how, scene.single(message -> {
                throw new TerminalException("never", null);
            }));
            Scene.until("all are settled", () -> scene.bench.messages() == 0);
            assertThat(scene.bench.server.messages(scene.bench.queue + ".dead-letters"))
                    .isEqualTo(3);
            assertThat(scene.letters()).isNotEmpty().allSatisfy(letter -> {
                assertThat(letter.about().origin()).containsEntry("queue", scene.bench.queue);
                assertThat(letter.message().header("filler").orElseThrow()).hasSizeGreaterThan(130_000);
            });
        }
    }
}
