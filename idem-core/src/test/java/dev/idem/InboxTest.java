package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.spi.Claim;
import dev.idem.spi.Marker;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class InboxTest extends InboxFixture {
    private static final Message KEYLESS = Message.builder().type("t").build();

    @Test
    @DisplayName("PC-11 the handler's connection is revoked, then the commit, then the answer")
    void processed() {
        store.thenGrant("c");
        assertThat(inbox.process("billing", MESSAGE, tx -> "r")).isEqualTo(new Outcome.Processed<>("r"));
        assertThat(store.calls).containsExactly("claim", "revoke", "commit", "close");
        assertThat(store.requests.get(0).busyWait()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(2));
        assertThat(store.requests.get(0).key()).hasToString("billing/" + ID);
    }

    @Test
    void runIsForWorkThatReturnsNothing() {
        store.thenGrant("c");
        assertThat(inbox.run("billing", MESSAGE, tx -> tx.run())).isEqualTo(new Outcome.Processed<>(null));
    }

    @Test
    @DisplayName("KY-06 the same key with another payload is a conflict")
    void conflict() {
        store.then(r -> new Claim.Taken(new Marker(null, new byte[] {1, 2}, ScriptedStore.DONE_AT, "c", null)));
        assertThat(inbox.accept(handling((event, tx) -> event), MESSAGE))
                .isEqualTo(new Outcome.Conflict<>(ScriptedStore.DONE_AT));
    }

    @Test
    @DisplayName("PC-15 a message without a key is rejected and the store never asked")
    void withoutKey() {
        assertThat(inbox.accept(handling((event, tx) -> event), KEYLESS))
                .isInstanceOfSatisfying(
                        Outcome.Rejected.class,
                        rejected -> assertThat(rejected.reason()).isEqualTo(Rejection.KEY_MISSING));
        assertThat(store.calls).isEmpty();
        assertThat(events()).containsExactly("Rejected");
    }

    @Test
    void aMessageWithoutAKeyRunsUnguardedIfItsConsumerSaysSo() {
        Policy unguarded = Policy.defaults().withMissingKey(Policy.MissingKey.PROCESS_UNGUARDED);
        store.thenGrant("a");
        store.thenGrant("b");
        inbox.process(with(unguarded), KEYLESS, tx -> "r");
        inbox.process(with(unguarded), KEYLESS, tx -> "r");
        assertThat(store.requests.get(0).key())
                .isNotEqualTo(store.requests.get(1).key());
        assertThat(events())
                .containsExactly("unguarded KEY_MISSING", "Processed", "unguarded KEY_MISSING", "Processed");
    }

    @Test
    @DisplayName("PC-15 parts that a selector made by itself are checked all the same")
    void uncheckedParts() {
        for (List<String> ids : List.of(List.<String>of(), List.of(""), List.of("\ud800"))) {
            Consumer own = Consumer.named("billing")
                    .key(message -> new Selection.Parts(null, null, ids))
                    .build();
            assertThat(inbox.process(own, MESSAGE, tx -> "r")).isInstanceOf(Outcome.Rejected.class);
        }
    }

    @Test
    @DisplayName("SE-07 an unknown type is rejected, or ignored if the consumer says so, and shown in one line")
    void unknownType() {
        Message odd = Message.builder().id(ID).type("odd\n").version("9\r").build();
        Policy ignore = Policy.defaults().withUnknownType(Policy.UnknownType.IGNORE);
        String detail = "consumer billing has no handler for type odd\\u{a} version 9\\u{d}";
        assertThat(inbox.accept(handling((event, tx) -> event), odd))
                .isEqualTo(new Outcome.Rejected<>(Rejection.UNKNOWN_TYPE, detail));
        assertThat(inbox.accept(handling(ignore, (event, tx) -> event), odd))
                .isEqualTo(new Outcome.Suppressed<>(detail));
        assertThat(inbox.accept(CONSUMER, Message.builder().build()).toString()).contains("no handler for type none");
        assertThat(store.calls).isEmpty();
        assertThat(events()).containsExactly("Rejected", "Suppressed", "Rejected");
    }

    @Test
    @DisplayName("SE-06 each delivery is reported exactly once, under a bounded label")
    void reports() {
        store.thenGrant("a");
        store.thenGrant("b");
        Message timed = MESSAGE.toBuilder().eventTime(Instant.EPOCH).build();
        Consumer consumer = Consumer.named("billing")
                .on("t", PayloadDecoder.text(), (event, tx) -> event)
                .otherwise((message, tx) -> 1)
                .build();
        inbox.accept(consumer, timed);
        inbox.accept(consumer, timed.toBuilder().type("x").build());
        assertThat(events()).containsExactly("Processed", "Processed");
        assertThat(heard.deliveries).extracting(InboxListener.Delivery::type).containsExactly("t", "other");
        InboxListener.Delivery first = heard.deliveries.get(0);
        assertThat(first.consumer()).isEqualTo("billing");
        assertThat(first.runs()).isEqualTo(1);
        assertThat(first.eventTime()).contains(Instant.EPOCH);
        assertThat(first.handling()).isPositive().isLessThan(first.total());
    }

    @Test
    @SuppressWarnings("NullAway")
    void wrongArgumentsFailAtConstruction() {
        assertThatThrownBy(() -> Inbox.create(null)).isInstanceOf(NullPointerException.class);
        Inbox.Builder builder = Inbox.builder(store);
        assertThatThrownBy(() -> builder.listener(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> builder.steps(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> builder.concurrency(0)).hasMessageContaining("concurrency is 0");
    }

    @Test
    void theStoreIsKnownRegisteredAndClosed() {
        assertThat(inbox.store()).isSameAs(store);
        inbox.register(CONSUMER);
        inbox.close();
        assertThat(store.calls).containsExactly("register billing", "close store");
    }
}
