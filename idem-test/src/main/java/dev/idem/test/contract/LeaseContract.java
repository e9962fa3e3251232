package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueueStore.Taking;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.TransientStoreException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Leases: whoever has lost one can neither commit nor decide anything. */
abstract class LeaseContract extends QueueBench {

    @Test
    @DisplayName("LS-01 LS-12 a worker that wakes up after its lease cannot commit, and its message was taken over")
    void aLateWorkerCannotCommit() throws Exception {
        store("m1");
        QueueStore queue = queue();
        Taking late = worker();
        Taking next = worker();
        String effect = fresh();
        List<QueuedMessage> first = queue.lease(late, SHORT_LEASE);
        assertThat(first).hasSize(1);
        try (QueueBatch batch = queue.open(late, first, true)) {
            work(batch, first.get(0).key(), effect, null);
            QueuedMessage second = takenOver(next);
            try (QueueBatch other = queue.open(next, List.of(second), true)) {
                work(other, second.key(), effect, null);
                other.commit();
            }
            assertThatThrownBy(batch::commit).isInstanceOf(TransientStoreException.class);
        }
        try (QueueBatch again = queue.open(late, first, true)) {
            assertThat(again.refused()).containsKey(first.get(0).key());
        }
        assertThat(effects(effect)).isEqualTo(1);
        assertThat(queue.take(worker())).isEmpty();
    }

    @Test
    @DisplayName("LS-04 LS-05 whatever a late worker decides, in whatever order, the newer verdict stands")
    void aLateVerdictChangesNothing() throws Exception {
        int parked = 0;
        for (QueueMove move : List.of(QueueMove.FAIL, QueueMove.PARK, QueueMove.GIVE_BACK, QueueMove.COMPLETE)) {
            store("m-" + move);
            QueueStore queue = queue();
            Taking late = worker();
            Taking next = worker();
            QueuedMessage first = queue.lease(late, SHORT_LEASE).get(0);
            QueuedMessage second = takenOver(next);
            assertThat(second.fence()).isGreaterThan(first.fence());
            assertThat(second.started()).isEqualTo(2);
            assertThat(second.isSuspect()).isTrue();
            assertThat(queue.change(late, List.of(change(first, move, Duration.ZERO))))
                    .as("%s by a late worker", move)
                    .isZero();
            assertThat(queue.renew(late, List.of(first), LONG_LEASE)).isZero();
            assertThat(queue.change(next, List.of(change(second, QueueMove.PARK, Duration.ZERO))))
                    .isEqualTo(1);
            assertThat(queue.change(late, List.of(change(first, move, Duration.ZERO))))
                    .as("%s by a late worker, of what is parked", move)
                    .isZero();
            assertThat(queue.stats(name).parked()).isEqualTo(++parked);
        }
    }

    @Test
    @DisplayName("LS-06 LS-10 a lease that is renewed, however often, is nobody else's; nor is a message just taken")
    void aRenewedLeaseIsSafe() throws Exception {
        Duration lease = SHORT_LEASE.multipliedBy(5); // longer than a busy machine stands still between two statements
        store("m1", "m2");
        QueueStore queue = queue();
        Taking first = worker();
        Taking second = worker();
        List<QueuedMessage> leased = queue.lease(first.limitedTo(1), lease);
        try (QueueBatch taken = queue.take(second).orElseThrow()) {
            assertThat(taken.messages()).hasSize(1);
            assertThat(taken.messages().get(0).id()).isNotEqualTo(leased.get(0).id());
            long until = System.nanoTime() + lease.multipliedBy(2).toNanos();
            while (System.nanoTime() < until) {
                assertThat(queue.renew(first, leased, lease)).isEqualTo(1);
                assertThat(queue.renew(first, leased, lease)).isEqualTo(1);
                assertThat(queue.lease(second, lease)).isEmpty();
            }
        }
    }

    @Test
    @DisplayName("LS-05 a lease on one message that was seen is granted only if nobody has moved it since")
    void leasedAsSeen() throws Exception {
        store("m1");
        QueueStore queue = queue();
        QueuedMessage seen;
        try (QueueBatch taken = queue.take(worker()).orElseThrow()) {
            seen = taken.messages().get(0);
        }
        Taking first = worker();
        QueuedMessage leased = queue.lease(first, seen, LONG_LEASE).orElseThrow();
        assertThat(leased.started()).isEqualTo(seen.started() + 1);
        assertThat(queue.lease(worker(), seen, LONG_LEASE)).isEmpty();
        assertThat(queue.change(first, List.of(change(leased, QueueMove.GIVE_BACK, Duration.ZERO))))
                .isEqualTo(1);
        assertThat(queue.lease(worker(), seen, LONG_LEASE))
                .as("it was moved since")
                .isEmpty();
        assertThat(queue.lease(worker(), LONG_LEASE))
                .singleElement()
                .satisfies(again ->
                        assertThat(again.started()).as("given back unused").isEqualTo(1));
    }
}
