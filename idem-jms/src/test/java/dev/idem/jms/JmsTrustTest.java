package dev.idem.jms;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.IdemException;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.qpid.jms.JmsConnectionFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Producers, and people who can write to a place of dead letters, are not trusted. */
class JmsTrustTest extends JmsScene {
    private static final Map<String, Object> FORGED = Map.ofEntries(
            Map.entry("idem_failures", Integer.MIN_VALUE),
            Map.entry("idem_seal", "00"),
            Map.entry("idem_of_id", "somebody else's"),
            Map.entry("idem_of_type", "forged"),
            Map.entry("idem_first_id", "ID:forged"),
            Map.entry("idem_replays", "7"),
            Map.entry("idem_consumer", "forged"),
            Map.entry("idem_reason", "FORGED"),
            Map.entry("idem_replay", "forbidden"),
            Map.entry("idem_letter", "forged"),
            Map.entry("idem_origin_queue", "payments"),
            Map.entry("idem_replay_session", "forged"),
            Map.entry("IDEM_reason", "FORGED"));

    private static Sending forged(String id, Map<String, Object> properties) {
        return session -> {
            jakarta.jms.Message message = text(id, "k").message(session);
            for (Map.Entry<String, Object> property : properties.entrySet()) {
                message.setObjectProperty(property.getKey(), property.getValue());
            }
            return message;
        };
    }

    @Test
    @DisplayName(
            "every idem_ property of a producer is ignored, and none reaches a copy: 3 attempts, and the letter is ours")
    void forgedProperties() throws Exception {
        send(forged("m1", FORGED));
        JmsConnectionFactory anyName = new JmsConnectionFactory(artemis.amqpUrl() + "&jms.validatePropertyNames=false");
        send(
                anyName,
                queue,
                forged("m2", Map.of("idem-failures", Integer.MIN_VALUE, "idem.failures", "-9", "idem:x", "y")));
        AtomicInteger attempts = new AtomicInteger();
        listen(
                Way.CORE_TRANSACTED,
                consumer(id -> {
                    attempts.incrementAndGet();
                    throw new IllegalStateException("always");
                }),
                options ->
                        options.retry(RetryPolicy.fixed(Duration.ofMillis(50)).withMaxAttempts(3)));
        String place = queue + ".dead-letters";
        until(() -> letters(place).size() == 2 && artemis.messages(queue) == 0);
        assertThat(attempts).hasValue(6);
        assertThat(letters(place))
                .extracting(letter -> letter.message().id().orElseThrow())
                .containsExactlyInAnyOrder("m1", "m2");
        assertThat(letters(place)).allSatisfy(letter -> {
            assertThat(letter.about().attempts()).isEqualTo(3);
            assertThat(letter.about().consumer()).isEqualTo("jms");
            assertThat(letter.about().reason()).isEqualTo("EXHAUSTED");
            assertThat(letter.about().replayForbidden()).isFalse();
            assertThat(letter.about().origin()).containsEntry("queue", queue);
            assertThat(letter.message().type()).isEmpty();
            assertThat(letter.message().headers("idem-replays")).isEmpty();
            assertThat(letter.message().headers("idem-replay-session")).isEmpty();
            assertThat(letter.message().headers("idem-x")).isEmpty();
        });
    }

    @Test
    @DisplayName("a copy of ours is believed, also as a replayed letter: the id that the broker gave first is kept")
    void ourOwnCopies() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        send(session -> session.createTextMessage("no id"));
        listen(
                Way.CORE_TRANSACTED,
                consumer(id -> {
                    if (attempts.incrementAndGet() <= 2) {
                        handled.add(id);
                        throw new IllegalStateException("not yet");
                    }
                }),
                options -> options.messageIdOfBroker()
                        .retry(RetryPolicy.fixed(Duration.ofMillis(50)).withMaxAttempts(2)));
        String place = queue + ".dead-letters";
        until(() -> letters(place).size() == 1);
        try (DeadLetters letters = JmsDeadLetters.open(artemis.core(), place)) {
            letters.sendAgain(letters.next().orElseThrow());
        }
        until(() -> handled.size() == 3 && artemis.messages(queue) == 0);
        assertThat(Set.copyOf(handled)).as("one and the same id").hasSize(1);
    }

    @Test
    @DisplayName("a forged letter does not choose where it is sent to; the caller allows that")
    void forgedOrigin() throws Exception {
        String place = queue + ".dead-letters";
        String elsewhere = queue + ".payments";
        Map<String, Object> properties = Map.of(
                "idem_consumer", "jms", "idem_reason", "FAILED", "idem_letter", "l1", "idem_origin_queue", elsewhere);
        send(artemis.core(), place, forged("m1", properties));
        try (DeadLetters letters = JmsDeadLetters.open(artemis.core(), place)) {
            Letter letter = letters.next().orElseThrow();
            assertThatThrownBy(() -> letters.sendAgain(letter))
                    .isInstanceOf(IdemException.class)
                    .hasMessageContaining(elsewhere)
                    .hasMessageContaining("allowed are only [" + queue + "]");
        }
        assertThat(artemis.messages(elsewhere)).isZero();
        assertThat(artemis.messages(place)).isEqualTo(1);
        try (DeadLetters letters =
                JmsDeadLetters.open(artemis.core(), place, JmsMessages.reader(), Set.of(elsewhere))) {
            letters.sendAgain(letters.next().orElseThrow());
        }
        assertThat(artemis.messages(elsewhere)).isEqualTo(1);
        assertThat(artemis.messages(place)).isZero();
    }
}
