package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Delivery;
import dev.idem.Header;
import dev.idem.IdemException;
import dev.idem.TerminalException;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.Letter;
import dev.idem.broker.LetterSource;
import dev.idem.broker.MessageReader;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
import dev.idem.servers.SkipWithoutServer;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitDeadLettersTest {
    private static final Scene.Before FAILS = message -> {
        throw new TerminalException("never", null);
    };

    @Test
    @DisplayName("MQ-10 a dead letter that no queue receives: the message stays, and leaves when there is one")
    void unroutableLetter() throws Exception {
        try (Scene scene = new Scene()) {
            String key = scene.bench.queue + ".nowhere";
            scene.bench.send(0, 1);
            scene.listen(how -> how.deadLetters("amq.direct", key), scene.single(FAILS));
            Scene.until("the handler failed", () -> !scene.runs.isEmpty());
            Thread.sleep(1_000);
            assertThat(scene.bench.messages()).isEqualTo(1);
            scene.bench.with(channel -> {
                channel.queueDeclare(scene.bench.queue + ".dead-letters", true, false, false, null);
                channel.queueBind(scene.bench.queue + ".dead-letters", "amq.direct", key);
            });
            Scene.until("the letter is there", () -> scene.letters().size() == 1);
            Scene.until("the message is settled", () -> scene.bench.messages() == 0);
            assertThat(scene.runs).as("the handler is left in peace").hasSize(1);
        }
    }

    @Test
    @DisplayName("MQ-10 a letter whose queue is gone is not sent, and is still there")
    void unroutableReplay() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 2);
            RabbitInboxListener listener = scene.listen(how -> how, scene.single(FAILS));
            Scene.until("both are set aside", () -> scene.letters().size() == 2);
            Scene.until("both are settled", () -> scene.bench.messages() == 0);
            listener.close();
            scene.bench.with(channel -> channel.queueDelete(scene.bench.queue));
            try (RabbitDeadLetters letters = scene.bench.deadLetters()) {
                Letter letter = letters.next().orElseThrow();
                assertThat(letters.size()).contains(2L);
                assertThatThrownBy(() -> letters.sendAgain(letter)).isInstanceOf(IdemException.class);
            }
            assertThat(scene.letters())
                    .extracting(letter -> letter.message().id().orElseThrow())
                    .containsExactly("m0", "m1");
        }
    }

    @Test
    @DisplayName("MQ-04 a message without properties is rejected for its missing key, as the policy says")
    void withoutProperties() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(new BasicProperties(), "bare");
            scene.bench.send(0, 1);
            scene.listen(how -> how, scene.single(message -> {}));
            scene.awaitEachOnce(1);
            assertThat(scene.letters()).singleElement().satisfies(letter -> {
                assertThat(letter.about().reason()).isEqualTo("REJECTED");
                assertThat(letter.message().id()).isEmpty();
                assertThat(new String(letter.message().payload(), java.nio.charset.StandardCharsets.UTF_8))
                        .isEqualTo("bare");
            });
        }
    }

    @Test
    @DisplayName(
            "letters are read as their listener reads messages, so that they are found by the id that it gave them")
    void readAsTheListenerReads() throws Exception {
        MessageReader<Delivery> reader = RabbitMessages.reader()
                .idFrom(delivery -> "order-" + delivery.getProperties().getAppId());
        try (Scene scene = new Scene()) {
            AtomicBoolean broken = new AtomicBoolean(true);
            scene.bench.send(new BasicProperties.Builder().appId("7").build(), "p");
            scene.listen(how -> how.messages(reader), scene.single(message -> {
                if (broken.get()) {
                    throw new TerminalException("not yet", null);
                }
            }));
            Scene.until("it is set aside", () -> scene.letters().size() == 1);
            Scene.until("it is settled", () -> scene.bench.messages() == 0);
            broken.set(false);
            try (RabbitDeadLetters letters = RabbitDeadLetters.open(
                    scene.bench.factory, scene.bench.queue + ".dead-letters", reader, Set.of(scene.bench.queue))) {
                Letter letter = letters.next().orElseThrow();
                assertThat(letter.message().id()).contains("order-7");
                letters.sendAgain(letter);
            }
            Scene.until("the handler ran again", () -> scene.runs.size() == 2);
            assertThat(scene.runs).allSatisfy(run -> assertThat(run.id()).contains("order-7"));
            assertThat(scene.letters()).isEmpty();
        }
    }

    @Test
    void foreignMessagesAmongTheLettersAreLeftThere() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 1);
            scene.listen(how -> how, scene.single(FAILS));
            Scene.until("it is set aside", () -> scene.letters().size() == 1);
            scene.bench.with(
                    channel -> channel.basicPublish("", scene.bench.queue + ".dead-letters", null, new byte[] {1}));
            assertThat(scene.letters()).hasSize(1);
            assertThat(scene.bench.server.messages(scene.bench.queue + ".dead-letters"))
                    .isEqualTo(2);
        }
    }

    @Test
    @DisplayName("RP-02 a replay session that goes on finds its place, although letters before it have left")
    void resumedSession() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 5);
            RabbitInboxListener listener = scene.listen(how -> how, scene.single(FAILS));
            Scene.until("all are set aside", () -> scene.letters().size() == 5);
            Scene.until("all are settled", () -> scene.bench.messages() == 0);
            listener.close();
            LetterSource source = LetterSource.of(queue -> RabbitDeadLetters.open(scene.bench.factory, queue));
            ReplaySpec spec = ReplaySpec.parse("dead-letters:from=" + scene.bench.queue + ".dead-letters");
            String cursor;
            try (ReplaySource.Reading reading = source.open(session(null), spec)) {
                ReplaySource.Batch first = reading.next(2);
                assertThat(first.messages())
                        .extracting(message -> message.id().orElseThrow())
                        .containsExactly("m0", "m1");
                assertThat(first.messages().get(0).headers())
                        .extracting(Header::name)
                        .containsExactlyInAnyOrder(DeliveryHeaders.ROUTING_KEY, DeliveryHeaders.QUEUE);
                cursor = first.cursor();
            }
            List<String> places = scene.letters().stream().map(Letter::place).toList();
            assertThat(places).hasSize(5).doesNotHaveDuplicates();
            try (RabbitDeadLetters letters = scene.bench.deadLetters()) {
                letters.sendAgain(letters.next().orElseThrow());
            }
            assertThat(scene.letters()).extracting(Letter::place).isEqualTo(places.subList(1, 5));
            try (ReplaySource.Reading reading = source.open(session(cursor), spec)) {
                assertThat(reading.next(9).messages())
                        .extracting(message -> message.id().orElseThrow())
                        .containsExactly("m2", "m3", "m4");
            }
        }
    }

    @Test
    @DisplayName("RP-02 letters that a stalled executor has read are not taken for sent: its successor waits for them")
    void readBySomebodyElse() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 3);
            RabbitInboxListener listener = scene.listen(how -> how, scene.single(FAILS));
            Scene.until("all are settled", () -> scene.bench.messages() == 0);
            listener.close();
            Scene.until("all are set aside", () -> scene.letters().size() == 3);
            LetterSource source = LetterSource.of(queue -> RabbitDeadLetters.open(scene.bench.factory, queue));
            ReplaySpec spec = ReplaySpec.parse("dead-letters:from=" + scene.bench.queue + ".dead-letters");
            try (ReplaySource.Reading stalled = source.open(session(null), spec)) {
                assertThat(stalled.next(9).messages()).hasSize(3);
                assertThatThrownBy(() -> source.open(session(null), spec))
                        .isInstanceOf(IdemException.class)
                        .hasMessageContaining("Somebody else");
            }
            try (ReplaySource.Reading successor = source.open(session(null), spec)) {
                assertThat(successor.next(9).messages()).hasSize(3);
            }
        }
    }

    @Test
    void lettersWithoutANameAreNamedByWhatTheySay() throws Exception {
        try (Scene scene = new Scene()) {
            String queue = scene.bench.queue + ".dead-letters";
            scene.bench.with(channel -> {
                channel.queueDeclare(queue, true, false, false, null);
                for (String id : List.of("m0", "m1")) {
                    BasicProperties properties = Bench.id(id)
                            .headers(Map.of("idem-consumer", "payments", "idem-reason", "FAILED"))
                            .build();
                    channel.basicPublish("", queue, properties, new byte[] {1});
                }
            });
            Scene.until("both are there", () -> scene.letters().size() == 2);
            List<String> places = scene.letters().stream().map(Letter::place).toList();
            assertThat(places).doesNotHaveDuplicates();
            assertThat(scene.letters()).extracting(Letter::place).isEqualTo(places);
        }
    }

    private static ReplaySession session(@Nullable String cursor) {
        return new ReplaySession(
                "s",
                "payments",
                "dead-letters",
                "anna",
                "why",
                1,
                false,
                ReplaySession.State.RUNNING,
                Optional.empty(),
                Optional.ofNullable(cursor),
                OptionalLong.empty(),
                ReplaySession.Counts.none(),
                Optional.empty(),
                Optional.empty(),
                1,
                Instant.EPOCH,
                Instant.EPOCH,
                Optional.empty(),
                List.of());
    }
}
