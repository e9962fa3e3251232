package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.spi.Claim;
import dev.idem.spi.Marker;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ObserveModeTest extends InboxFixture {
    private static final Consumer OBSERVED = with(Policy.defaults().withObserveOnly());

    @Test
    void aDuplicateRunsUnderAnotherKeyAndIsReported() {
        store.thenTakenBy("other");
        store.thenGrant("mine");

        assertThat(inbox.process(OBSERVED, MESSAGE, tx -> "ran")).isEqualTo(new Outcome.Processed<>("ran"));

        assertThat(store.requests).hasSize(2);
        assertThat(store.requests.get(1).key().value())
                .isNotEqualTo(store.requests.get(0).key().value());
        assertThat(inbox.observations().get("billing").duplicates()).isEqualTo(1);
        assertThat(events()).containsExactly("observed Duplicate", "Processed");
    }

    @Test
    void conflictBusyAndAMissingKeyAreLetThroughToo() {
        store.then(r -> new Claim.Taken(new Marker(null, new byte[32], ScriptedStore.DONE_AT, "other", null)));
        store.thenGrant("1");
        store.thenBusy();
        store.thenGrant("2");
        store.thenGrant("3");
        Message keyless = MESSAGE.toBuilder().id(null).build();

        assertThat(inbox.process(OBSERVED, MESSAGE, tx -> 1)).isEqualTo(new Outcome.Processed<>(1));
        assertThat(inbox.process(OBSERVED, MESSAGE, tx -> 2)).isEqualTo(new Outcome.Processed<>(2));
        assertThat(inbox.process(OBSERVED, keyless, tx -> 3)).isEqualTo(new Outcome.Processed<>(3));

        Observation seen = inbox.observations().get("billing");
        assertThat(seen.deliveries()).isEqualTo(3);
        assertThat(seen.conflicts()).isEqualTo(1);
        assertThat(seen.busy()).isEqualTo(1);
        assertThat(seen.unusableKeys()).isEqualTo(1);
    }

    @Test
    void aFingerprintThatFailsAndAnUnusedTransactionDoNotStopAnything() {
        store.thenGrant("1").unused();
        Policy policy = Policy.defaults()
                .withObserveOnly()
                .withUnusedTransaction(Policy.UnusedTransaction.REFUSE)
                .withFingerprint(Fingerprint.of(m -> {
                    throw new IllegalStateException("cannot");
                }));

        assertThat(inbox.process(with(policy), MESSAGE, tx -> "ran")).isInstanceOf(Outcome.Processed.class);
    }

    @Test
    void withoutObserveModeNothingIsCounted() {
        store.thenTakenBy("other");
        assertThat(inbox.process(CONSUMER, MESSAGE, tx -> "ran")).isInstanceOf(Outcome.Duplicate.class);
        assertThat(inbox.observations()).isEmpty();
    }

    @Test
    void theWindowIsToldToTheStoreOnceAndAgainWhenItChanges() {
        store.thenGrant("1");
        store.thenGrant("2");
        store.thenGrant("3");
        inbox.process(CONSUMER, MESSAGE, tx -> 1);
        inbox.process(CONSUMER, MESSAGE, tx -> 2);
        inbox.process(with(Policy.defaults().withWindow(Duration.ofDays(30))), MESSAGE, tx -> 3);

        assertThat(store.retained).containsExactly("billing PT168H PT24H", "billing PT720H PT24H");
    }
}
