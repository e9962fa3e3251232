package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idem.Consumer;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.UnitOfWork;
import dev.idem.test.CrashPoint;
import dev.idem.test.FlakyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Many messages in one call. A store that cannot batch gets them one by one, and the same is true. */
abstract class BatchContract extends HandlerContract {

    @Test
    @DisplayName("PG-13 a batch is applied once; repeats inside it and across batches are duplicates")
    void batchIsAppliedOnce() throws Exception {
        List<Message> batch = batch(8);
        batch.add(batch.get(3));
        Inbox inbox = inbox();
        List<Outcome<?>> outcomes = deliverAll(inbox, batch, message -> false);
        assertThat(outcomes.subList(0, 8)).allMatch(Outcome.Processed.class::isInstance);
        assertThat(outcomes.get(8)).isInstanceOf(Outcome.Duplicate.class);
        assertThat(deliverAll(inbox(), batch, message -> false)).allMatch(Outcome.Duplicate.class::isInstance);
        assertAllDoneOnce(batch);
    }

    @Test
    @DisplayName("PG-10 RO-14 a message that fails, at any position, fails alone and leaves nothing")
    void messageFailsAlone() throws Exception {
        Inbox inbox = inbox();
        for (int position = 0; position < 4; position++) {
            List<Message> batch = batch(4);
            Message guilty = batch.get(position);
            List<Outcome<?>> outcomes = deliverAll(inbox, batch, guilty::equals);
            for (int i = 0; i < 4; i++) {
                assertThat(outcomes.get(i))
                        .as("message %s of 4, of which %s fails", i, position)
                        .isInstanceOf(i == position ? Outcome.Failed.class : Outcome.Processed.class);
            }
            assertNothingLeft(guilty);
            List<Outcome<?>> again = deliverAll(inbox, batch, message -> false);
            assertThat(again.get(position)).isInstanceOf(Outcome.Processed.class);
            assertAllDoneOnce(batch);
        }
    }

    @Test
    @DisplayName("RO-07 behind a message that must come again, those of its ordering key are held")
    void orderIsKept() throws Exception {
        List<Message> batch = new ArrayList<>();
        for (Message message : batch(3)) {
            batch.add(message.toBuilder().orderingKey("k").build());
        }
        batch.addAll(batch(1));
        Inbox inbox = inbox();
        List<Outcome<?>> outcomes = deliverAll(inbox, batch, batch.get(1)::equals);
        assertThat(outcomes.get(0)).isInstanceOf(Outcome.Processed.class);
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Failed.class);
        assertThat(outcomes.get(2)).isInstanceOf(Outcome.Held.class);
        assertThat(outcomes.get(3)).isInstanceOf(Outcome.Processed.class);
        assertNothingLeft(batch.get(2));
        deliverAll(inbox, batch, message -> false);
        assertAllDoneOnce(batch);
    }

    @Test
    @DisplayName("PC-03 a twin that runs elsewhere makes its own message busy and no other")
    void busyAlone() throws Exception {
        MarkerStore.Batching store = batching();
        List<Message> batch = batch(5);
        Owner owner = Owner.of(this, inbox(), batch.get(2));
        List<Outcome<?>> outcomes = deliverAll(inbox(Inbox.builder(store)), batch, message -> false);
        for (int i = 0; i < 5; i++) {
            assertThat(outcomes.get(i)).isInstanceOf(i == 2 ? Outcome.Busy.class : Outcome.Processed.class);
        }
        owner.commits();
        assertThat(deliverAll(inbox(), batch, message -> false)).allMatch(Outcome.Duplicate.class::isInstance);
        assertAllDoneOnce(batch);
    }

    @Test
    @DisplayName("PG-12 PC-01 overlapping batches in every order, from several processes, are applied once")
    void overlappingBatches() throws Exception {
        List<Message> all = batch(20);
        List<Callable<Boolean>> deliveries = new ArrayList<>();
        for (Inbox inbox : inboxes(4)) {
            List<Message> shuffled = new ArrayList<>(all);
            Collections.shuffle(shuffled, new Random(deliveries.size()));
            deliveries.add(() -> {
                List<Message> open = shuffled;
                for (long end = System.nanoTime() + LONG.toNanos(); !open.isEmpty() && System.nanoTime() < end; ) {
                    open = unsettled(open, deliverAll(inbox, open, message -> false));
                }
                return open.isEmpty();
            });
        }
        assertThat(inParallel(deliveries)).containsOnly(true);
        assertAllDoneOnce(all);
    }

    @Test
    @DisplayName("PG-15 a batch whose commit is undone, lost, or lost after it was done, is applied once")
    void uncertainCommits() throws Exception {
        for (FlakyStore flaky : List.of(
                FlakyStore.around(store()).undoCommits(2),
                FlakyStore.around(store()).loseCommits(2),
                FlakyStore.around(store()).loseAnswers(1))) {
            List<Message> batch = batch(3);
            AtomicInteger failures = new AtomicInteger();
            List<Outcome<?>> outcomes = deliverAll(
                    inbox(Inbox.builder(flaky)),
                    batch,
                    message -> message.equals(batch.get(1)) && failures.incrementAndGet() == 1);
            assertThat(outcomes.get(0)).isInstanceOf(Outcome.Processed.class);
            assertThat(outcomes.get(1)).isInstanceOf(Outcome.Failed.class);
            assertThat(outcomes.get(2)).isInstanceOf(Outcome.Processed.class);
            assertNothingLeft(batch.get(1));
            deliverAll(inbox(), batch, message -> false);
            assertAllDoneOnce(batch);
        }
    }

    @Test
    @DisplayName("PC-02 after a crash at any step of a batch the redelivery completes it")
    void crashAtAnyStepOfABatch() throws Exception {
        for (FaultPoint step : List.of(
                FaultPoint.BEFORE_CLAIM,
                FaultPoint.AFTER_CLAIM,
                FaultPoint.BEFORE_HANDLER,
                FaultPoint.AFTER_HANDLER,
                FaultPoint.BEFORE_COMMIT,
                FaultPoint.AFTER_COMMIT,
                FaultPoint.BEFORE_SETTLEMENT)) {
            List<Message> batch = batch(3);
            CrashPoint crash = CrashPoint.at(step).throwException();
            Inbox dying = inbox(Inbox.builder(store()).steps(crash));
            List<Message> open = unsettled(batch, deliverAll(dying, batch, message -> false));
            assertThat(crash.fired()).isTrue();
            deliverAll(inbox(), open, message -> false);
            for (Message message : batch) {
                assertThat(inbox().accept(handling(none -> false), message)).isInstanceOf(Outcome.Duplicate.class);
            }
        }
    }

    @Test
    @DisplayName("PC-05 a batch marks what was kept at its commit, and nothing else, nor before")
    void batchMarksWhatWasKept() throws Exception {
        MarkerStore.Batching store = batching();
        List<ClaimRequest> requests = new ArrayList<>();
        for (Message message : batch(3)) {
            MarkerKey key = ConsumerPlan.of(consumer()).keyOf(message).orElseThrow();
            requests.add(new ClaimRequest(key, new byte[] {1, 2, 3, 4, 5}, Duration.ZERO, false));
        }
        try (Batch abandoned = store.claimAll(requests)) {
            assertThat(abandoned.refused()).isEmpty();
            abandoned.begin(List.of(requests.get(0).key()), null).commit(null);
        }
        String claimId;
        try (Batch batch = store.claimAll(requests)) {
            assertThat(batch.refused()).isEmpty();
            claimId = batch.claimId(requests.get(0).key());
            for (ClaimRequest request : requests) {
                var unit = batch.begin(List.of(request.key()), null);
                unit.revoke();
                unit.commit(null);
            }
            batch.giveUp(requests.get(1).key());
            assertThat(batch.flush()).isEmpty();
            assertThat(batch.usable()).isTrue();
            batch.commit();
        }
        try (Batch next = store.claimAll(requests)) {
            assertThat(next.refused().keySet())
                    .containsExactlyInAnyOrder(
                            requests.get(0).key(), requests.get(2).key());
            assertThat(next.refused().get(requests.get(0).key()))
                    .isInstanceOfSatisfying(
                            Claim.Taken.class,
                            taken -> assertThat(taken.marker().claimId()).isEqualTo(claimId));
        }
    }

    @Test
    @DisplayName("LV-15 closing a batch again does nothing to the one that came after it")
    void closingABatchAgainDoesNothing() throws Exception {
        MarkerStore.Batching store = batching();
        List<ClaimRequest> requests = new ArrayList<>();
        for (Message message : batch(2)) {
            requests.add(new ClaimRequest(
                    ConsumerPlan.of(consumer()).keyOf(message).orElseThrow(), null, Duration.ZERO, false));
        }
        Batch before = store.claimAll(requests);
        before.close();
        try (Batch batch = store.claimAll(requests)) {
            for (ClaimRequest request : requests) {
                UnitOfWork unit = batch.begin(List.of(request.key()), null);
                unit.revoke();
                unit.commit(null);
            }
            before.close();
            assertThat(batch.usable()).isTrue();
            assertThat(before.usable()).isFalse();
            assertThatCode(batch::commit).doesNotThrowAnyException();
        }
        try (Batch after = store.claimAll(requests)) {
            assertThat(after.refused().values()).hasSize(2).allMatch(Claim.Taken.class::isInstance);
        }
    }

    private MarkerStore.Batching batching() throws Exception {
        MarkerStore store = sharedStore();
        assumeTrue(store instanceof MarkerStore.Batching, "the store takes no batches");
        return (MarkerStore.Batching) store;
    }

    private static List<Message> batch(int size) {
        List<Message> batch = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            batch.add(message(fresh()));
        }
        return batch;
    }

    private List<Outcome<?>> deliverAll(Inbox inbox, List<Message> batch, Predicate<Message> fails) {
        List<Outcome<?>> outcomes = inbox.acceptAll(handling(fails), batch);
        for (int i = 0; i < batch.size(); i++) {
            noted(batch.get(i), outcomes.get(i));
        }
        return outcomes;
    }

    private Consumer handling(Predicate<Message> fails) {
        Handler<Message, String> handler = (message, tx) -> {
            writeEffect(tx, effectOf(message));
            if (fails.test(message)) {
                throw new IllegalStateException("fails, as this test wants");
            }
            return "done";
        };
        return Consumer.named(consumer().name())
                .policy(consumer().policy())
                .otherwise(handler)
                .build();
    }

    private static List<Message> unsettled(List<Message> batch, List<Outcome<?>> outcomes) {
        List<Message> open = new ArrayList<>();
        for (int i = 0; i < batch.size(); i++) {
            if (outcomes.get(i).settlement() == Settlement.RETRY) {
                open.add(batch.get(i));
            }
        }
        return open;
    }

    private void assertAllDoneOnce(List<Message> batch) throws Exception {
        for (Message message : batch) {
            assertDoneOnce(message);
        }
    }
}
