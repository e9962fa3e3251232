package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore.Taking;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StepRecord;
import dev.idem.spi.StepRecord.Kind;
import dev.idem.spi.StepRecord.State;
import dev.idem.spi.StepStore;
import dev.idem.spi.StepStore.Intended;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.UnitOfWork;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What a store must do that keeps the steps of messages, whose queue is a {@link StepStore}. A subclass says how to open the
 * store, and how something is written in its transactions; nothing needs to be empty.
 */
public abstract class StepStoreContract extends QueueBench {
    private static final StoredResult RESULT = new StoredResult("text", "ä\0'".getBytes(StandardCharsets.UTF_8));

    @Test
    @DisplayName("HX-14 a step's effect, result and record are there together, and not before the commit")
    void doneTogether() throws Exception {
        Leased leased = leased("m1", LONG_LEASE);
        String effect = fresh();
        assertThat(leased.steps()).isEmpty();
        try (Batch batch = leased.open("reserve", 0)) {
            assertThat(batch.refused()).isEmpty();
            work(batch, leased.key(), effect, RESULT);
            assertThat(leased.steps()).as("before the commit").isEmpty();
            assertThat(effects(effect)).isZero();
            batch.commit();
        }
        assertThat(effects(effect)).isEqualTo(1);
        assertThat(leased.steps()).singleElement().satisfies(step -> {
            assertThat(step.name()).isEqualTo("reserve");
            assertThat(step.kind()).isEqualTo(Kind.STEP);
            assertThat(step.state()).isEqualTo(State.DONE);
            assertThat(step.position()).isZero();
            assertThat(step.fence()).isEqualTo(leased.message.fence());
            StoredResult result = Objects.requireNonNull(step.result());
            assertThat(result.codec()).isEqualTo("text");
            assertThat(result.bytes()).isEqualTo(RESULT.bytes());
        });
    }

    @Test
    @DisplayName(
            "HX-14 a step that is undone, or whose transaction ends without a commit, leaves nothing and can be done")
    void undone() throws Exception {
        Leased leased = leased("m1", LONG_LEASE);
        String effect = fresh();
        try (Batch batch = leased.open("reserve", 0)) {
            UnitOfWork unit = batch.begin(List.of(leased.key()), null);
            effect(unit.connection(), effect);
            unit.rollback();
            batch.giveUp(leased.key());
        }
        try (Batch batch = leased.open("reserve", 0)) {
            work(batch, leased.key(), effect, RESULT);
        }
        assertThat(effects(effect)).isZero();
        assertThat(leased.steps()).isEmpty();
        leased.done("reserve", 0, effect);
        assertThat(effects(effect)).isEqualTo(1);
    }

    @Test
    @DisplayName("PC-01 a step that is stored is taken, and the claim id tells who stored it")
    void takenOnce() throws Exception {
        Leased leased = leased("m1", LONG_LEASE);
        String claimId = leased.done("reserve", 0, fresh());
        try (Batch batch = leased.open("reserve", 0)) {
            assertThat(batch.refused().get(leased.key()))
                    .isInstanceOfSatisfying(
                            Claim.Taken.class,
                            taken -> assertThat(taken.marker().claimId()).isEqualTo(claimId));
        }
        leased.done("book", 1, fresh());
        assertThat(leased.steps()).extracting(StepRecord::position).containsExactlyInAnyOrder(0, 1);
    }

    @Test
    @DisplayName("LS-01 LS-05 who has lost the lease can commit no step, write no effect, erase none, and not complete")
    void lateWorker() throws Exception {
        Leased late = leased("m1", SHORT_LEASE);
        String effect = fresh();
        assertThat(late.write("pay", State.INTENT, null)).isTrue();
        Taking next = worker();
        Leased other;
        try (Batch batch = late.open("reserve", 1)) {
            work(batch, late.key(), effect, null);
            other = new Leased(next, takenOver(next));
            assertThatThrownBy(batch::commit).isInstanceOf(TransientStoreException.class);
        }
        assertThat(late.write("pay", State.DONE, RESULT)).isFalse();
        assertThat(late.write("mail", State.INTENT, null)).isFalse();
        assertThat(steps().erase(late.taking, late.message, late.key(), "pay")).isFalse();
        assertThat(late.intend("mail", late.key(), null)).isEqualTo(Intended.LEASE_LOST);
        assertThat(steps().complete(late.taking, late.message)).isFalse();
        try (Batch refused = late.open("reserve", 1)) {
            assertThat(refused.refused().get(late.key())).isInstanceOf(Claim.Busy.class);
        }
        assertThat(steps().isLeased(next, other.steps().get(0)))
                .as("whoever wrote it has lost its lease")
                .isFalse();
        assertThat(other.steps()).singleElement().satisfies(step -> {
            assertThat(step.name()).isEqualTo("pay");
            assertThat(step.state()).isEqualTo(State.INTENT);
        });
        assertThat(steps().complete(next, other.message)).isTrue();
        assertThat(effects(effect)).isZero();
    }

    @Test
    @DisplayName("HX-14 an effect is what was written last under its name, for every later run, until it is erased")
    void effectsAreKept() throws Exception {
        Leased leased = leased("m1", LONG_LEASE);
        for (State state : List.of(State.INTENT, State.UNKNOWN, State.INTENT, State.DONE)) { // after that it stays
            StoredResult result = state == State.DONE ? RESULT : null;
            assertThat(leased.write("pay", state, result)).isTrue();
            assertThat(leased.steps()).singleElement().satisfies(effect -> {
                assertThat(effect.kind()).isEqualTo(Kind.EFFECT);
                assertThat(effect.state()).isEqualTo(state);
                assertThat(effect.effectKey()).isEqualTo("key of pay");
                assertThat(bytes(effect.result())).isEqualTo(bytes(result));
            });
        }
        assertThat(leased.write("mail", State.INTENT, null)).isTrue();
        assertThat(steps().erase(leased.taking, leased.message, leased.key(), "mail"))
                .isTrue();
        assertThat(queue().change(leased.taking, List.of(change(leased.message, QueueMove.FAIL, Duration.ZERO))))
                .isEqualTo(1);
        Taking next = worker();
        Leased again = new Leased(next, takenOver(next));
        assertThat(again.steps()).extracting(StepRecord::name).containsExactly("pay");
    }

    @Test
    @DisplayName("HX-14 a message that is completed leaves the queue and its steps; its effects are kept, closed")
    void completed() throws Exception {
        Leased leased = leased("m1", LONG_LEASE);
        leased.done("reserve", 0, fresh());
        assertThat(leased.write("pay", State.DONE, RESULT)).isTrue();
        assertThat(steps().complete(leased.taking, leased.message)).isTrue();
        assertThat(steps().complete(leased.taking, leased.message)).isFalse();
        assertThat(leased.steps()).singleElement().satisfies(effect -> {
            assertThat(effect.name()).isEqualTo("pay");
            assertThat(effect.isOpen()).isFalse();
            assertThat(effect.state()).isEqualTo(State.DONE);
            assertThat(effect.effectKey()).isEqualTo("key of pay");
        });
        assertThat(queue().lease(worker(), LONG_LEASE)).isEmpty();
    }

    @Test
    @DisplayName(
            "RP-03 of two deliveries of a message, in whatever session, one intends an effect, and both learn of it")
    void sharedLedger() throws Exception {
        Leased ordinary = leased("m1", LONG_LEASE);
        Leased inSession = leased("m1-in-session", LONG_LEASE);
        MarkerKey ledger = ordinary.key();
        assertThat(inSession.intend("pay", ledger, null)).isEqualTo(Intended.STORED);
        assertThat(inSession.intend("pay", ledger, null))
                .as("an answer was lost")
                .isEqualTo(Intended.STORED);
        assertThat(ordinary.intend("pay", ledger, null)).isEqualTo(Intended.CHANGED);
        assertThat(steps().erase(ordinary.taking, ordinary.message, ledger, "pay"))
                .isTrue();
        assertThat(ordinary.steps())
                .as("what another wrote is not erased")
                .singleElement()
                .satisfies(effect -> {
                    assertThat(effect.isOpen()).isFalse();
                    assertThat(effect.codec()).isEqualTo("text");
                });
        StepRecord found = ordinary.steps().get(0);
        assertThat(steps().isLeased(ordinary.taking, found))
                .as("the other may be making it")
                .isTrue();
        assertThat(ordinary.intend("pay", ledger, found)).isEqualTo(Intended.STORED);
        assertThat(inSession.write("pay", ledger, State.DONE, RESULT)).isTrue();
        assertThat(ordinary.write("pay", ledger, State.UNKNOWN, null)).isTrue();
        for (List<StepRecord> effects : List.of(ordinary.steps(), inSession.steps())) {
            assertThat(effects)
                    .as("what is done stays done")
                    .singleElement()
                    .satisfies(effect -> assertThat(effect.state()).isEqualTo(State.DONE));
        }
    }

    @Test
    @DisplayName("LS-05 whoever leases a message learns that it is half done")
    void halfDone() throws Exception {
        Leased leased = leased("m1", SHORT_LEASE);
        assertThat(leased.message.halfDone()).isFalse();
        leased.done("reserve", 0, fresh());
        QueuedMessage again = takenOver(worker());
        assertThat(again.halfDone()).isTrue();
    }

    @Test
    @DisplayName("KY-03 names that look alike are others, and each message has its own")
    void lookAlikes() throws Exception {
        Leased leased = leased("m1", LONG_LEASE);
        List<String> names = List.of("pay", "PAY", "Pay", "pay-", "pay.", "p".repeat(100), "p".repeat(99));
        for (String step : names) {
            assertThat(leased.write(step, State.INTENT, null)).isTrue();
        }
        assertThat(leased.steps()).extracting(StepRecord::name).containsExactlyInAnyOrderElementsOf(names);
        assertThat(leased("m2", LONG_LEASE).steps()).isEmpty();
    }

    @Test
    @DisplayName("a result may be large, and empty is not none")
    void results() throws Exception {
        Leased leased = leased("m1", LONG_LEASE);
        byte[] large = new byte[60_000];
        Arrays.fill(large, (byte) -1);
        assertThat(leased.write("large", State.DONE, new StoredResult("bytes", large)))
                .isTrue();
        assertThat(leased.write("empty", State.DONE, new StoredResult("bytes", new byte[0])))
                .isTrue();
        for (StepRecord step : leased.steps()) {
            assertThat(bytes(step.result())).isEqualTo(step.name().equals("large") ? large : new byte[0]);
        }
    }

    private static byte @Nullable [] bytes(@Nullable StoredResult result) {
        return result == null ? null : result.bytes();
    }

    private StepStore steps() throws Exception {
        return (StepStore) queue();
    }

    private Leased leased(String id, Duration lease) throws Exception {
        store(id);
        Taking taking = worker();
        return new Leased(taking, queue().lease(taking, lease).get(0));
    }

    /** A message and the worker that has it, or had it. */
    private final class Leased {
        private final Taking taking;
        private final QueuedMessage message;

        Leased(Taking taking, QueuedMessage message) {
            this.taking = taking;
            this.message = message;
        }

        MarkerKey key() {
            return message.key();
        }

        List<StepRecord> steps() throws Exception {
            return StepStoreContract.this.steps().steps(taking, key());
        }

        Batch open(String step, int position) throws Exception {
            StepRecord record = StepRecord.step(step, position, message.fence());
            return StepStoreContract.this.steps().openStep(taking, message, record);
        }

        /** Answers the id of its claim. */
        String done(String step, int position, String effect) throws Exception {
            try (Batch batch = open(step, position)) {
                assertThat(batch.refused()).isEmpty();
                String claimId = batch.claimId(key());
                work(batch, key(), effect, null);
                batch.commit();
                return claimId;
            }
        }

        /** What a provider is given, of at most 100 characters. */
        private String keyOf(String effect) {
            return "key of " + (effect.length() > 50 ? effect.length() : effect);
        }

        boolean write(String effect, State state, @Nullable StoredResult result) throws Exception {
            return write(effect, key(), state, result);
        }

        boolean write(String effect, MarkerKey ledger, State state, @Nullable StoredResult result) throws Exception {
            return StepStoreContract.this
                    .steps()
                    .write(taking, message, ledger, intentOf(effect).in(state, result));
        }

        Intended intend(String effect, MarkerKey ledger, @Nullable StepRecord found) throws Exception {
            return StepStoreContract.this.steps().intend(taking, message, ledger, intentOf(effect), found);
        }

        private StepRecord intentOf(String effect) {
            return StepRecord.intent(effect, 0, message.fence(), keyOf(effect), "text");
        }
    }
}
