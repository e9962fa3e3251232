package dev.idem.internal.unit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.InboxFixture;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class HorizonTest extends InboxFixture {
    private static final Instant HORIZON = Instant.parse("2026-01-02T03:04:05Z");

    @Test
    void aGrantedMessageFromBeforeTheHorizonIsRolledBack() {
        store.thenGrant("1").forgetsUpTo(HORIZON);

        assertThat(inbox.process(CONSUMER, at(HORIZON), tx -> "ran")).isEqualTo(new Outcome.Undecidable<>(HORIZON));

        assertThat(store.calls).containsExactly("claim", "rollback", "close");
        assertThat(new Outcome.Undecidable<>(HORIZON).settlement()).isEqualTo(Settlement.DEAD_LETTER);
    }

    @Test
    void clocksMayDifferByTheSkew() {
        Duration skew = CONSUMER.policy().clockSkew();
        store.thenGrant("1").forgetsUpTo(HORIZON);
        store.thenGrant("2").forgetsUpTo(HORIZON);
        assertThat(inbox.process(CONSUMER, at(HORIZON.plus(skew)), tx -> "ran"))
                .isInstanceOf(Outcome.Undecidable.class);
        assertThat(inbox.process(CONSUMER, at(HORIZON.plus(skew).plusNanos(1)), tx -> "ran"))
                .isInstanceOf(Outcome.Processed.class);
    }

    @Test
    void aMarkerThatIsFoundSaysDuplicateHoweverOldItIs() {
        store.thenTakenBy("other");
        assertThat(inbox.process(CONSUMER, at(Instant.EPOCH), tx -> "ran")).isInstanceOf(Outcome.Duplicate.class);
    }

    @Test
    void anyTimeAtAllCanBeJudged() {
        store.thenGrant("1").forgetsUpTo(HORIZON);
        store.thenGrant("2").forgetsUpTo(HORIZON);
        assertThat(inbox.process(CONSUMER, at(Instant.MIN), tx -> "ran")).isInstanceOf(Outcome.Undecidable.class);
        assertThat(inbox.process(CONSUMER, at(Instant.MAX), tx -> "ran")).isInstanceOf(Outcome.Processed.class);
    }

    @Test
    void theTimeInTheIdComesBeforeTheEventTime() {
        store.thenGrant("1").forgetsUpTo(HORIZON);
        assertThat(inbox.process(
                        CONSUMER, MESSAGE.toBuilder().eventTime(Instant.now()).build(), tx -> "ran"))
                .as("its id is of 2024")
                .isInstanceOf(Outcome.Undecidable.class);
    }

    @Test
    void whatIsNotGuardedIsNotJudged() {
        store.thenGrant("1").forgetsUpTo(HORIZON);
        Consumer all = with(Policy.defaults().withMissingKey(Policy.MissingKey.PROCESS_UNGUARDED));
        Message keyless = at(Instant.EPOCH).toBuilder().id(null).build();
        assertThat(inbox.process(all, keyless, tx -> "ran")).isInstanceOf(Outcome.Processed.class);
    }

    @Test
    void processingAnUndecidableMessageIsTold() {
        store.thenGrant("1").forgetsUpTo(HORIZON);
        Consumer bold = with(Policy.defaults().withUndecidable(Policy.Undecidable.PROCESS));
        assertThat(inbox.process(bold, at(HORIZON), tx -> "ran")).isInstanceOf(Outcome.Processed.class);
        assertThat(events()).contains("unguarded UNDECIDABLE");
    }

    @Test
    void observedItIsCountedAndProcessed() {
        store.thenGrant("1").forgetsUpTo(HORIZON);
        store.thenGrant("2").forgetsUpTo(HORIZON);
        Consumer observed = with(Policy.defaults().withObserveOnly());
        assertThat(inbox.process(observed, at(HORIZON), tx -> "ran")).isInstanceOf(Outcome.Processed.class);
        assertThat(Optional.of(inbox.observations().get("billing").undecidable()))
                .contains(1L);
    }

    private static Message at(Instant time) {
        return Message.builder().id("plain").eventTime(time).build();
    }
}
