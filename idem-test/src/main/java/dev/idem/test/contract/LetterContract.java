package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Header;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.Letter;
import dev.idem.queue.Outbox;
import dev.idem.spi.FaultHook;
import dev.idem.test.contract.BrokerUnderTest.Sent;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The part of {@link BrokerContract} about headers that a producer forges. */
abstract class LetterContract extends LetterPlaceContract {
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
            "idem-topic",
            "idem-queue",
            "idem-exchange",
            "idem-routing-key",
            "idem-tombstone",
            "idem-origin-topic",
            "idem-origin-partition",
            "idem-origin-offset",
            "idem-origin-queue",
            "idem-origin-exchange",
            "idem-origin-routing-key",
            "idem-origin-destination");

    /** Not ours: the outbox of any service writes them, and nothing is decided by them. */
    private static final List<String> OF_AN_OUTBOX = List.of(Outbox.CAUSATION_ID, Outbox.CORRELATION_ID);

    private static final List<String> VALUES = List.of("-2147483648", "0-0", "2147483647", "forged");

    private static boolean isForged(Header header) {
        return DeadLetter.isOurs(header.name()) && VALUES.contains(header.text());
    }

    private static List<Header> forged(String value) {
        return Stream.concat(OURS.stream(), OF_AN_OUTBOX.stream())
                .map(name -> new Header(name, value))
                .toList();
    }

    @Test
    @DisplayName(
            "headers that begin with idem- are ignored, whatever a producer writes into them, but an outbox's two say what"
                    + " they say and decide nothing")
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
        listen(inbox(FaultHook.NONE), consumer);
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
            assertIsSaid(message);
        });
        for (Letter letter : letters()) {
            DeadLetter about = letter.about();
            assertThat(about.consumer()).isEqualTo("payments");
            assertThat(about.reason()).isEqualTo("EXHAUSTED");
            assertThat(about.attempts()).isEqualTo(3);
            assertThat(about.replayForbidden()).isFalse();
            assertThat(about.origin().values()).isNotEmpty().doesNotContain("-2147483648", "0-0");
            assertThat(letter.message().headers()).noneMatch(LetterContract::isForged);
            assertIsSaid(letter.message());
        }
    }

    private static void assertIsSaid(Message message) {
        assertThat(message.correlationId().orElseThrow()).isIn(VALUES);
        assertThat(message.causationId()).isEqualTo(message.correlationId());
    }
}
