package dev.idem.broker;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Logged;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.broker.spi.DeliveryDecider;
import dev.idem.broker.spi.KeyedExecutor;
import dev.idem.broker.spi.Settler;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LanesIncidentTest {
    private final List<DeadLetter> letters = Collections.synchronizedList(new ArrayList<>());

    private final Settler<String> settler = new Settler<>() {
        @Override
        public void acknowledge(String delivery) {}

        @Override
        public void setAside(String delivery, Message message, DeadLetter letter) {
            letters.add(letter);
        }
    };

    @Test
    @DisplayName("LV-17 a listener that gives a message up says so once, and the letter says what was thrown, redacted")
    void givenUp() {
        Consumer consumer = Consumer.named("billing")
                .policy(Policy.defaults().withRedaction(text -> text.replace("4711", "****")))
                .build();
        Exception cause = new ExecutionException(new IllegalStateException("card 4711\nforged"));
        KeyedExecutor<String> lanes = KeyedExecutor.start(
                new KeyedExecutor.Options(
                        "test", 1, RetryPolicy.fixed(ofMillis(1)).withMaxAttempts(3), Thread::new, 1_000, 1_000_000),
                ScriptedInbox.each(message -> new Outcome.Failed<>(Failure.RETRYABLE, cause)),
                consumer,
                settler);
        try (Logged logged = new Logged()) {
            lanes.add(List.of(new KeyedExecutor.Delivery<>("m-1", Message.of("m-1", new byte[0]), 0)));
            await().atMost(ofSeconds(10)).until(() -> letters.size() == 1);
            assertThat(logged.lines(Level.WARN))
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .startsWith("billing: message m-1 is set aside (EXHAUSTED) after 3 failed runs:"
                                    + " java.lang.IllegalStateException: card ****\\u{a}forged at ")
                            .contains("\tat dev.idem.broker.LanesIncidentTest"));
        } finally {
            lanes.close(ofSeconds(5));
        }
        assertThat(letters).singleElement().satisfies(letter -> {
            assertThat(letter.reason()).isEqualTo("EXHAUSTED");
            assertThat(letter.error()).contains(IllegalStateException.class.getName());
            assertThat(letter.detail()).contains("card ****\\u{a}forged");
        });
    }

    @Test
    @DisplayName("LV-17 so does a listener of one's own, through the triage")
    void ofOnesOwn() {
        DeliveryDecider triage = new DeliveryDecider(
                Consumer.of("own"), RetryPolicy.fixed(ofMillis(1)).withMaxAttempts(2));
        Exception cause = new IllegalStateException("no till");
        try (Logged logged = new Logged()) {
            Optional<DeadLetter> letter = triage.untilDecided(
                    ScriptedInbox.each(message -> new Outcome.Failed<>(Failure.RETRYABLE, cause)),
                    Message.of("m-1", new byte[0]));
            assertThat(letter.orElseThrow().detail()).contains("no till");
            assertThat(logged.lines(Level.WARN))
                    .singleElement()
                    .asString()
                    .startsWith("own: message m-1 is set aside (EXHAUSTED) after 2 failed runs:");
        }
    }
}
