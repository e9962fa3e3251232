package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.Batch;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueueStore.Taking;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StoredResult;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** A queue of a consumer that no other test has, and that no worker looks at. */
abstract class QueueBench extends ContractBench {
    static final Duration SHORT_LEASE = Duration.ofMillis(200);
    static final Duration LONG_LEASE = Duration.ofMinutes(1);

    final String name = "contract-" + UUID.randomUUID().toString().substring(0, 13);
    private @Nullable Inbox door;

    /** Writes something in the transaction of this connection. The text is short and ASCII. */
    protected abstract void effect(Connection connection, String effect) throws Exception;

    /** How often it is there, as others see it. */
    protected abstract int effects(String effect) throws Exception;

    final QueueStore queue() throws Exception {
        return ((MarkerStore.Queueing) sharedStore()).queue();
    }

    final Inbox door() throws Exception {
        if (door == null) {
            door = inbox();
        }
        return door;
    }

    /** A worker that nobody else is. */
    final Taking worker(boolean ordered) {
        long number = ThreadLocalRandom.current().nextLong();
        return new Taking(name, number, "worker " + number, 10, ordered, Duration.ZERO, false);
    }

    final Taking worker() {
        return worker(false);
    }

    /** Stores messages in this order, as a listener would. */
    final void store(boolean ordered, List<Message> messages) throws Exception {
        QueuePolicy policy = QueuePolicy.inTransaction();
        Consumer consumer = Consumer.named(name)
                .queued(ordered ? policy.withOrderByKey() : policy)
                .otherwise((message, tx) -> "")
                .build();
        assertThat(door().acceptAll(consumer, messages)).allMatch(Outcome.Stored.class::isInstance);
    }

    final List<Message> store(String... ids) throws Exception {
        List<Message> messages = new ArrayList<>();
        for (String id : ids) {
            messages.add(message(id));
        }
        store(false, messages);
        return messages;
    }

    /** Messages whose ordering keys are the first letters of their ids. */
    final void storeOrdered(String... ids) throws Exception {
        List<Message> messages = new ArrayList<>();
        for (String id : ids) {
            messages.add(message(id).toBuilder().orderingKey(id.substring(0, 1)).build());
        }
        store(true, messages);
    }

    /** Leases what another worker had for too short a time. */
    final QueuedMessage takenOver(Taking by) throws Exception {
        List<QueuedMessage> leased = new ArrayList<>();
        QueueStore queue = queue();
        assertThat(becomesTrue(() -> !leased.isEmpty() || leased.addAll(queue.lease(by, LONG_LEASE))))
                .as("a lease that has run out can be taken over")
                .isTrue();
        return leased.get(0);
    }

    /** Does its work in the batch, without committing it. */
    final void work(Batch batch, MarkerKey key, String effect, @Nullable StoredResult result) throws Exception {
        UnitOfWork unit = batch.begin(List.of(key), null);
        effect(unit.connection(), effect);
        unit.revoke();
        unit.commit(result);
        assertThat(batch.flush()).isEmpty();
    }

    static QueueChange change(QueuedMessage message, QueueMove move, Duration delay) {
        return new QueueChange(message, move, delay, "TEST", null);
    }

    static List<String> ids(List<QueuedMessage> messages) {
        return messages.stream().map(m -> m.message().id().orElseThrow()).toList();
    }
}
