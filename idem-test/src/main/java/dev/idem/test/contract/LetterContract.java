package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Header;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.Letter;
import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import dev.idem.spi.StepHook;
import dev.idem.test.contract.BrokerUnderTest.Sent;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The part of {@link BrokerContract} about letters that cannot be sent, and headers that a producer forges. */
abstract class LetterContract extends BrokerBench {
    private static final List<String> OURS = List.of(
            "idem-id",
            "idem-key",
            "idem-consumer",
            "idem-reason",
            "idem-detail",
            "idem-error",
            "idem-attempts",
            "idem-time",
            "idem-failures",
            "idem-seal",
            "idem-replay",
            "idem-replays",
            "idem-replayed",
            "idem-replay-session",
            "idem-origin-topic",
            "idem-origin-partition",
            "idem-origin-offset",
            "idem-origin-queue",
            "idem-origin-exchange",
            "idem-origin-routing-key",
            "idem-origin-destination");

    private static final List<String> VALUES = List.of("-2147483648", "0-0", "2147483647", "forged");

    @Test
    @DisplayName("a letter that cannot be sent keeps its message and nothing else, and arrives when its place is back")
    void unsendableLetter() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Listener listener = listener(
                inbox(StepHook.NONE),
                writer(message -> {
                    if (message.id().orElseThrow().equals("bad")) {
                        runs.incrementAndGet();
                        throw new TerminalException("never", null);
                    }
                }),
                MANY_BYTES);
        send(0, 1);
        awaitEffects(1);
        requireBroker().breakLetters();
        requireBroker().send(message("bad", "bad-key"));
        send(1, 40);
        awaitEffects(40);
        until("the listener says what it waits for", () -> listener.state() == ListenerState.WAITING);
        assertThat(listener.waiting())
                .map(Waiting::why)
                .hasValueSatisfying(why -> assertThat(why).isNotBlank());
        send(40, 60);
        awaitEffects(60);
        assertThat(runs).as("the decision is kept").hasValue(1);
        assertThat(requireBroker().unsettled()).isPositive();
        requireBroker().mendLetters();
        until("the letter is there", () -> letters().size() == 1);
        awaitSettled();
        until("the listener runs", () -> listener.state() == ListenerState.RUNNING);
        assertThat(runs).hasValue(1);
        assertThat(letters())
                .singleElement()
                .satisfies(letter -> assertThat(letter.message().id()).contains("bad"));
        assertEachOnceInOrder();
    }

    private static boolean isForged(Header header) {
        return DeadLetter.isOurs(header.name()) && VALUES.contains(header.text());
    }

    private static List<Header> forged(String value) {
        return OURS.stream().map(name -> new Header(name, value)).toList();
    }

    @Test
    @DisplayName("headers that begin with idem- are ignored, whatever a producer writes into them")
    void forgedHeaders() throws Exception {
        List<Message> seen = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger runs = new AtomicInteger();
        Consumer consumer =
                writer(builder -> builder.policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED)), message -> {
                    seen.add(message);
                    if (message.id().orElseThrow().startsWith("bad")) {
                        runs.incrementAndGet();
                        throw new IllegalStateException("always");
                    }
                });
        listen(inbox(StepHook.NONE), consumer);
        for (int i = 0; i < VALUES.size(); i++) {
            requireBroker().send(new Sent("m" + i, "key", "payload", forged(VALUES.get(i))));
        }
        for (String value : VALUES) { // the same again, as if a session had asked for it
            requireBroker().send(new Sent("m0", "key", "payload", forged(value)));
        }
        requireBroker().send(new Sent("bad", "bad-key", "payload of bad", forged("-2147483648")));
        requireBroker().send(new Sent("bad-too", "bad-key", "", forged("0-0")));
        until("both are set aside", () -> letters().size() == 2);
        awaitSettled();
        assertThat(effects()).containsExactlyInAnyOrder("m0", "m1", "m2", "m3");
        assertThat(runs).hasValue(6);
        assertThat(seen).allSatisfy(message -> {
            assertThat(message.replaySession()).isEmpty();
            assertThat(message.headers()).noneMatch(LetterContract::isForged);
        });
        for (Letter letter : letters()) {
            DeadLetter about = letter.about();
            assertThat(about.consumer()).isEqualTo("payments");
            assertThat(about.reason()).isEqualTo("EXHAUSTED");
            assertThat(about.attempts()).isEqualTo(3);
            assertThat(about.replayForbidden()).isFalse();
            assertThat(about.origin().values()).isNotEmpty().doesNotContain("-2147483648", "0-0");
            assertThat(letter.message().headers()).noneMatch(LetterContract::isForged);
        }
    }
}
