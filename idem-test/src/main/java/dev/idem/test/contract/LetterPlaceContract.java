package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.TerminalException;
import dev.idem.broker.Letter;
import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import dev.idem.spi.FaultHook;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The part of {@link BrokerContract} about places of letters that are gone, that take nothing, and that do not answer. */
abstract class LetterPlaceContract extends BrokerBench {
    private static final Duration DRAIN = Duration.ofSeconds(2);
    private static final long CLOSED_WITHIN_NANOS = Duration.ofSeconds(20).toNanos();

    private final AtomicInteger runs = new AtomicInteger();

    private Consumer poisonous() {
        return writer(message -> {
            if (message.id().orElseThrow().startsWith("bad")) {
                runs.incrementAndGet();
                throw new TerminalException("never", null);
            }
        });
    }

    private void assertLetters(String... ids) throws Exception {
        assertThat(letters())
                .extracting(letter -> letter.message().id().orElseThrow())
                .containsExactlyInAnyOrder(ids);
    }

    @Test
    @DisplayName("a letter that cannot be sent keeps its message and nothing else, and arrives when its place is back")
    void unsendableLetter() throws Exception {
        Listener listener = listener(inbox(FaultHook.NONE), poisonous(), MANY_BYTES);
        send(0, 1);
        awaitEffects(1);
        requireBroker().breakLetters();
        requireBroker().send(message("bad", "bad-key"));
        send(1, 40);
        awaitEffects(40);
        awaitWaiting(listener);
        send(40, 60);
        awaitEffects(60);
        assertThat(runs).as("the decision is kept").hasValue(1);
        assertThat(requireBroker().unsettled()).isPositive();
        requireBroker().mendLetters();
        until("the letter is there", () -> letters().size() == 1);
        awaitSettled();
        until("the listener runs", () -> listener.state() == ListenerState.RUNNING);
        assertThat(runs).hasValue(1);
        assertLetters("bad");
        assertEachOnceInOrder();
    }

    private static void awaitWaiting(Listener listener) throws Exception {
        until("the listener says what it waits for", () -> listener.state() == ListenerState.WAITING);
        assertThat(listener.waiting())
                .map(Waiting::why)
                .hasValueSatisfying(why -> assertThat(why).isNotBlank());
    }

    @Test
    @DisplayName("a place of letters that was removed under the listener: no letter is lost, and nobody waits for it")
    void placeGoneAndBack() throws Exception {
        Listener listener = listener(inbox(FaultHook.NONE), poisonous(), MANY_BYTES);
        requireBroker().send(message("bad", "bad-key"));
        send(0, 1);
        awaitEffects(1);
        until("the first letter is there", () -> letters().size() == 1);
        requireBroker().removeLetters();
        requireBroker().send(message("bad-too", "bad-key"));
        send(1, 30);
        awaitEffects(30);
        requireBroker().restoreLetters();
        until("the second letter is there", () -> letters().size() == 1);
        awaitSettled();
        until("the listener runs", () -> listener.state() == ListenerState.RUNNING);
        assertThat(runs).hasValue(2);
        assertLetters("bad-too");
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName("a broker that lets publishers wait: letters wait by themselves, it is said, and all arrive")
    void blockedPublisher() throws Exception {
        Listener listener = patient(inbox(FaultHook.NONE), poisonous());
        send(0, 1);
        awaitEffects(1);
        listener.pause();
        Thread.sleep(1_000); // what it had asked for may still come
        for (int i = 0; i < 3; i++) { // some brokers take one before they block
            requireBroker().send(message("bad" + i, "bad-key-" + i));
        }
        send(1, 40);
        requireBroker().blockPublishers(true);
        try {
            listener.resume();
            awaitEffects(40);
            awaitWaiting(listener);
        } finally {
            requireBroker().blockPublishers(false);
        }
        until("all letters are there", () -> ids(letters()).equals(Set.of("bad0", "bad1", "bad2")));
        awaitSettled();
        until("the listener runs", () -> listener.state() == ListenerState.RUNNING);
        assertThat(runs).hasValue(3);
        assertEachOnceInOrder();
    }

    private static Set<String> ids(List<Letter> letters) {
        return letters.stream()
                .map(letter -> letter.message().id().orElseThrow())
                .collect(Collectors.toSet());
    }

    @Test
    @DisplayName("closing while a letter cannot be sent: takes its time and no more, and the next listener sends it")
    void closingWithALetter() throws Exception {
        Listener listener = listener(inbox(FaultHook.NONE), poisonous(), MANY_BYTES);
        send(0, 1);
        awaitEffects(1);
        requireBroker().breakLetters();
        requireBroker().send(message("bad", "bad-key"));
        send(1, 10);
        awaitEffects(10);
        awaitWaiting(listener);
        long before = System.nanoTime();
        listener.close(DRAIN);
        assertThat(System.nanoTime() - before).isLessThan(CLOSED_WITHIN_NANOS);
        assertThat(listener.state()).isEqualTo(ListenerState.CLOSED);
        assertThat(requireBroker().unsettled()).isPositive();
        requireBroker().mendLetters();
        listener(inbox(FaultHook.NONE), poisonous(), MANY_BYTES);
        until("the letter is there", () -> letters().size() == 1);
        awaitSettled();
        assertLetters("bad");
        assertEachOnceInOrder();
    }
}
