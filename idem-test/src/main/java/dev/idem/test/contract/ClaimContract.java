package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.UnitOfWork;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** One at a time, never too few, never too many. */
abstract class ClaimContract extends ContractBench {

    @Test
    @DisplayName("PC-01 of 2 to 64 concurrent deliveries one runs, and all others are told that it is done")
    void oneOfManyConcurrentDeliveriesRuns() throws Exception {
        List<Inbox> processes = inboxes(4);
        for (int threads = 2; threads <= 64; threads *= 2) {
            for (int round = 0; round < 2; round++) {
                Message message = message(fresh());
                List<Outcome<String>> outcomes = inParallel(twins(threads, processes, message));
                assertThat(outcomes)
                        .filteredOn(Outcome.Processed.class::isInstance)
                        .hasSize(1);
                assertThat(outcomes)
                        .filteredOn(Outcome.Duplicate.class::isInstance)
                        .hasSize(threads - 1);
                assertDoneOnce(message);
            }
        }
    }

    private List<Callable<Outcome<String>>> twins(int count, List<Inbox> processes, Message message) {
        List<Callable<Outcome<String>>> twins = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Inbox process = processes.get(i % processes.size());
            twins.add(() -> deliverUntilSettled(process, consumer(), message, tx -> {
                Thread.sleep(2); // a store that looks before it marks lets a twin in meanwhile
                return "done";
            }));
        }
        return twins;
    }

    @Test
    @DisplayName("PG-02 MY-06 when an owner rolls back with 32 waiters, exactly one of them wins")
    void oneOfManyWaitersInheritsTheKey() throws Exception {
        Message message = message(fresh());
        Owner owner = Owner.of(this, inbox(), message);
        List<Inbox> processes = inboxes(32);
        CountDownLatch waiting = new CountDownLatch(32);
        List<Future<Outcome<String>>> waiters = new ArrayList<>();
        for (Inbox process : processes) {
            waiters.add(start(() -> {
                waiting.countDown();
                return deliverUntilSettled(process, consumer(), message);
            }));
        }
        await(waiting);
        Thread.sleep(100); // lets most of them reach the store; nothing depends on how many do
        owner.rollsBack();

        List<Outcome<String>> outcomes = new ArrayList<>();
        for (Future<Outcome<String>> waiter : waiters) {
            outcomes.add(result(waiter));
        }
        assertThat(outcomes).filteredOn(Outcome.Processed.class::isInstance).hasSize(1);
        assertThat(outcomes).filteredOn(Outcome.Duplicate.class::isInstance).hasSize(31);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-03 PC-06 a follower is busy and not acknowledged; when the owner has rolled back, it runs")
    void busyFollowerIsNotAcknowledgedAndRunsLater() throws Exception {
        Message message = message(fresh());
        Inbox elsewhere = inbox();
        Owner owner = Owner.of(this, inbox(), message);

        Outcome<String> follower = deliver(elsewhere, consumer(p -> p.withBusyWait(SHORT)), message);
        assertThat(follower).isInstanceOf(Outcome.Busy.class);
        assertThat(follower.settlement()).isEqualTo(Settlement.RETRY);

        owner.rollsBack();
        assertThat(deliver(elsewhere, message)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-03 a twin in the same process is busy as well")
    void twinInTheSameProcessIsBusy() throws Exception {
        Message message = message(fresh());
        Inbox inbox = inbox();
        Owner owner = Owner.of(this, inbox, message);
        assertThat(deliver(inbox, consumer(p -> p.withBusyWait(SHORT)), message))
                .isInstanceOf(Outcome.Busy.class);
        assertThat(owner.commits()).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-03 a follower that waits learns that the owner has committed")
    void waitingFollowerLearnsOfTheCommit() throws Exception {
        Message message = message(fresh());
        Inbox elsewhere = inbox();
        Owner owner = Owner.of(this, inbox(), message);
        Future<Outcome<String>> follower = start(() -> deliverUntilSettled(elsewhere, consumer(), message));
        assertThat(owner.commits()).isInstanceOf(Outcome.Processed.class);
        assertThat(result(follower)).isInstanceOf(Outcome.Duplicate.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-12 PC-13 a message delivered 100 times more is acknowledged 100 times")
    void duplicateIsAcknowledgedEveryTime() throws Exception {
        Message message = message(fresh());
        List<Inbox> processes = inboxes(2);
        deliver(processes.get(0), message);
        for (int i = 0; i < 100; i++) {
            Outcome<String> again = deliver(processes.get(i % 2), message);
            assertThat(again).isInstanceOf(Outcome.Duplicate.class);
            assertThat(again.settlement()).isEqualTo(Settlement.ACK);
        }
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-22 a duplicate is what was read: the marker carries the claim that wrote it")
    void takenMarkerIsTheOneThatWasWritten() throws Exception {
        MarkerStore store = sharedStore();
        ClaimRequest request = request(Duration.ZERO);
        String claimId;
        try (UnitOfWork unit = granted(store.claim(request))) {
            claimId = unit.claimId();
            unit.revoke();
            unit.commit(null);
        }
        for (MarkerStore reader : List.of(store, inbox().store())) {
            Marker marker = taken(reader.claim(request));
            assertThat(marker.claimId()).isEqualTo(claimId);
            assertThat(marker.readable()).isEqualTo(request.key().readable());
            assertThat(marker.markedAt())
                    .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(60));
        }
    }

    @Test
    @DisplayName("PC-05 PC-06 until the commit nobody is told that the key is taken, and a rollback frees it")
    void nothingIsTakenBeforeTheCommit() throws Exception {
        MarkerStore store = sharedStore();
        MarkerStore other = inbox().store();
        ClaimRequest request = request(SHORT);
        try (UnitOfWork unit = granted(store.claim(request))) {
            assertThat(store.claim(request)).isInstanceOf(Claim.Busy.class);
            assertThat(other.claim(request)).isInstanceOf(Claim.Busy.class);
            unit.rollback();
        }
        granted(store.claim(request)).close();
        try (UnitOfWork unit = granted(other.claim(request))) {
            unit.revoke();
            unit.commit(null);
        }
        assertThat(store.claim(request)).isInstanceOf(Claim.Taken.class);
    }

    @Test
    @DisplayName("PC-02 a unit that is closed without an end leaves nothing")
    void closedUnitLeavesNothing() throws Exception {
        ClaimRequest request = request(SHORT);
        granted(sharedStore().claim(request)).close();
        granted(sharedStore().claim(request)).close();
    }

    @Test
    @DisplayName("LV-15 closing or abandoning a unit that was closed does nothing to the one that came after it")
    void closingAgainDoesNothing() throws Exception {
        MarkerStore store = sharedStore();
        ClaimRequest request = request(SHORT);
        UnitOfWork before = granted(store.claim(request));
        before.close();
        try (UnitOfWork unit = granted(store.claim(request))) {
            before.close();
            before.abandon();
            assertThat(inbox().store().claim(request))
                    .as("the key is still held")
                    .isInstanceOf(Claim.Busy.class);
            assertThatCode(() -> {
                        unit.revoke();
                        unit.commit(null);
                    })
                    .doesNotThrowAnyException();
        }
        assertThat(store.claim(request)).isInstanceOf(Claim.Taken.class);
    }

    @Test
    @DisplayName("PC-24 a unit abandoned by another thread cannot commit, and its key is free")
    void abandonedUnitCannotCommit() throws Exception {
        ClaimRequest request = request(Duration.ofSeconds(5));
        try (UnitOfWork unit = granted(sharedStore().claim(request))) {
            result(start(() -> {
                unit.abandon();
                return "abandoned";
            }));
            granted(inbox().store().claim(request)).close();
            assertThatThrownBy(() -> {
                        unit.revoke();
                        unit.commit(null);
                    })
                    .isInstanceOf(IdemException.class);
        }
        granted(sharedStore().claim(request)).close();
    }

    @Test
    @DisplayName("KY-04 two keys that meet in one hash are never called duplicates of each other")
    void hashCollisionIsVisible() throws Exception {
        UUID value = UUID.fromString("0198c0de-0000-8000-8000-" + fresh().substring(2, 10) + "0000");
        ClaimRequest one = new ClaimRequest(new MarkerKey("contract", value, "one"), null, LONG, false);
        ClaimRequest two = new ClaimRequest(new MarkerKey("contract", value, "two"), null, LONG, false);
        try (UnitOfWork unit = granted(sharedStore().claim(one))) {
            unit.revoke();
            unit.commit(null);
        }
        assertThat(taken(sharedStore().claim(two)).readable()).isEqualTo("one");
    }

    @Test
    @DisplayName("PC-19 registering a consumer twice, at once and late, changes nothing")
    void registeringIsIdempotent() throws Exception {
        List<Inbox> processes = inboxes(8);
        String name = "contract-" + UUID.randomUUID();
        List<Callable<Boolean>> registrations = new ArrayList<>();
        for (Inbox process : processes) {
            registrations.add(() -> {
                process.store().register(name);
                return true;
            });
        }
        inParallel(registrations);
        Message message = message(fresh());
        dev.idem.Consumer consumer = dev.idem.Consumer.of(name);
        assertThat(deliver(processes.get(0), consumer, message)).isInstanceOf(Outcome.Processed.class);
        processes.get(1).store().register(name);
        assertThat(deliver(processes.get(1), consumer, message)).isInstanceOf(Outcome.Duplicate.class);
        assertDoneOnce(message);
    }

    private static ClaimRequest request(Duration wait) {
        String id = fresh();
        UUID hashed = UUID.nameUUIDFromBytes(id.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        UUID version8 =
                new UUID((hashed.getMostSignificantBits() & ~0xF000L) | 0x8000L, hashed.getLeastSignificantBits());
        return new ClaimRequest(new MarkerKey("contract", version8, id), null, wait, false);
    }

    private static UnitOfWork granted(Claim claim) {
        assertThat(claim).isInstanceOf(Claim.Granted.class);
        return ((Claim.Granted) claim).unit();
    }

    private static Marker taken(Claim claim) {
        assertThat(claim).isInstanceOf(Claim.Taken.class);
        return ((Claim.Taken) claim).marker();
    }
}
