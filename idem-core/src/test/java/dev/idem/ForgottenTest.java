package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.spi.Claim;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Claims that a store has no place for. */
class ForgottenTest {
    private static final Instant HORIZON = Instant.parse("2026-11-09T00:00:00Z");
    private static final Message MESSAGE = Message.of("m-1", new byte[0]);

    private final List<String> runs = new ArrayList<>();
    private final ScriptedStore store = new ScriptedStore();

    @Test
    @DisplayName("RP-01 a key of a forgotten time is never run, whatever the policy says")
    void aForgottenKeyIsNeverRun() {
        for (Policy.Undecidable choice : Policy.Undecidable.values()) {
            store.then(request -> new Claim.Forgotten(HORIZON));
            Outcome<?> outcome = accept(Policy.defaults().withUndecidable(choice));
            assertThat(outcome.settlement()).isEqualTo(Settlement.DEAD_LETTER);
            if (choice == Policy.Undecidable.PARK) {
                assertThat(outcome).isEqualTo(new Outcome.Undecidable<>(HORIZON));
            } else {
                assertThat(outcome).isInstanceOfSatisfying(Outcome.Rejected.class, rejected -> {
                    assertThat(rejected.reason()).isEqualTo(Rejection.UNDECIDABLE);
                    assertThat(rejected.detail()).contains("m-1");
                });
            }
        }
        assertThat(runs).isEmpty();
    }

    @Test
    @DisplayName("PG-29 a key that has no place yet comes again, and the store's reason is told untouched")
    void aKeyWithoutAPlaceComesAgain() {
        StoreException reason = new StoreException("no partition for that", null);
        store.then(request -> new Claim.Unplaced(reason)).then(request -> new Claim.Unplaced(reason));
        assertThat(accept(Policy.defaults())).isEqualTo(new Outcome.Failed<>(Failure.INFRASTRUCTURE, reason));
        try (Inbox inbox = Inbox.create(store)) {
            assertThatThrownBy(() -> inbox.run("payments", MESSAGE, tx -> runs.add("ran")))
                    .isSameAs(reason);
        }
        assertThat(runs).isEmpty();
    }

    private Outcome<?> accept(Policy policy) {
        Consumer consumer = Consumer.named("payments")
                .policy(policy)
                .otherwise((message, tx) -> runs.add("ran"))
                .build();
        try (Inbox inbox = Inbox.create(store)) {
            return inbox.accept(consumer, MESSAGE);
        }
    }

    @Test
    void aStoreHearsOfTheKeysBeforeTheFirstClaimAndWhenTheyChange() {
        store.thenGrant("1");
        store.thenGrant("2");
        store.thenGrant("3");
        Message message = Message.of("01ARZ3NDEKTSV4RRFFQ69G5FAV", new byte[0]);
        try (Inbox inbox = Inbox.create(store)) {
            inbox.run(Consumer.of("payments"), message, tx -> {});
            inbox.run(Consumer.of("payments"), message, tx -> {});
            inbox.run(
                    Consumer.named("payments")
                            .key(KeySelector.messageId().timeOrdered())
                            .build(),
                    message,
                    tx -> {});
        }
        assertThat(store.admitted).containsExactly("payments false", "payments true");
    }
}
