package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore.Taking;
import dev.idem.spi.QueuedMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What a store must do that keeps messages until workers have handled them ({@link dev.idem.spi.MarkerStore.Queueing}). A
 * subclass says how to open the store, and how something is written in its transactions; nothing needs to be empty.
 */
public abstract class QueueStoreContract extends LeaseContract {

    @Test
    @DisplayName("RP-02 what is stored comes out as it went in, in the order of receipt, and once")
    void comesOutAsItWentIn() throws Exception {
        Message full = Message.builder()
                .id("Id ä 1")
                .source("orders")
                .type("paid")
                .orderingKey("k ")
                .contentType("application/json")
                .eventTime(Instant.parse("2026-01-02T03:04:05.678Z"))
                .header("h", "1")
                .header("h", "2")
                .payload(new byte[] {0, -1, 13, 10, 39})
                .build();
        store(false, List.of(full, message("b"), message("a")));
        store(false, List.of(message("c")));
        try (QueueBatch taken = queue().take(worker()).orElseThrow()) {
            assertThat(ids(taken.messages())).containsExactly("Id ä 1", "b", "a", "c");
            assertThat(taken.messages()).extracting(QueuedMessage::id).isSorted();
            Message out = taken.messages().get(0).message();
            assertThat(out.source()).isEqualTo(full.source());
            assertThat(out.type()).isEqualTo(full.type());
            assertThat(out.orderingKey()).isEqualTo(full.orderingKey());
            assertThat(out.contentType()).isEqualTo(full.contentType());
            assertThat(out.eventTime()).isEqualTo(full.eventTime());
            assertThat(out.headers()).isEqualTo(full.headers());
            assertThat(out.payload()).isEqualTo(full.payload());
        }
    }

    @Test
    @DisplayName("PC-01 workers that look at the same time share what is there: nothing is taken twice, nothing left")
    void sharedAmongWorkers() throws Exception {
        String[] ids = new String[40];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = "m" + i;
        }
        store(ids);
        List<Callable<List<String>>> workers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            workers.add(() -> {
                List<String> mine = new ArrayList<>();
                for (List<QueuedMessage> some = queue().lease(worker(), LONG_LEASE);
                        !some.isEmpty();
                        some = queue().lease(worker(), LONG_LEASE)) {
                    mine.addAll(ids(some));
                }
                return mine;
            });
        }
        queue();
        List<String> all = inParallel(workers).stream().flatMap(List::stream).toList();
        assertThat(all).containsExactlyInAnyOrder(ids);
    }

    @Test
    @DisplayName(
            "PC-02 LS-12 a transaction that ends without a commit leaves no effect, and frees its messages at once")
    void freedAtOnce() throws Exception {
        store("m1", "m2");
        String effect = fresh();
        try (QueueBatch taken = queue().take(worker()).orElseThrow()) {
            assertThat(queue().take(worker())).as("taken by somebody").isEmpty();
            work(taken, taken.messages().get(0).key(), effect, null);
        }
        assertThat(effects(effect)).isZero();
        try (QueueBatch again = queue().take(worker()).orElseThrow()) {
            assertThat(ids(again.messages())).containsExactly("m1", "m2");
        }
    }

    @Test
    @DisplayName(
            "RO-14 the commit completes what was kept with its effect, leaves what was given up, and makes the changes")
    void completedWithTheEffect() throws Exception {
        store("done", "left", "parked");
        String effect = fresh();
        try (QueueBatch taken = queue().take(worker()).orElseThrow()) {
            List<QueuedMessage> messages = taken.messages();
            work(taken, messages.get(0).key(), effect, null);
            taken.giveUp(messages.get(1).key());
            taken.giveUp(messages.get(2).key());
            taken.change(change(messages.get(2), QueueMove.PARK, Duration.ZERO));
            assertThat(effects(effect)).isZero();
            taken.commit();
        }
        assertThat(effects(effect)).isEqualTo(1);
        try (QueueBatch rest = queue().take(worker()).orElseThrow()) {
            assertThat(ids(rest.messages())).containsExactly("left");
        }
        assertThat(queue().stats(name).parked()).isEqualTo(1);
        assertThat(queue().stats(name).pending()).isEqualTo(1);
    }

    @Test
    @DisplayName("RO-13 what failed is not due before its delay is over, and the queue says when it will be")
    void dueLater() throws Exception {
        store("m1");
        Taking worker = worker();
        assertThat(queue().nextDue(name)).as("what is due now").isEmpty();
        QueuedMessage leased = queue().lease(worker, LONG_LEASE).get(0);
        assertThat(queue().change(worker, List.of(change(leased, QueueMove.FAIL, Duration.ofMinutes(5)))))
                .isEqualTo(1);
        assertThat(queue().take(worker())).isEmpty();
        assertThat(queue().lease(worker(), LONG_LEASE)).isEmpty();
        Optional<Duration> due = queue().nextDue(name);
        assertThat(due).isPresent();
        assertThat(due.get()).isBetween(Duration.ofMinutes(4), Duration.ofMinutes(5));
        assertThat(queue().stats(name).retryable()).isEqualTo(1);
    }

    @Test
    @DisplayName("RO-12 a queue says whether so many messages wait")
    void full() throws Exception {
        assertThat(queue().isFull(name, 1)).isFalse();
        store("m1", "m2", "m3");
        assertThat(queue().isFull(name, 3)).isTrue();
        assertThat(queue().isFull(name, 4)).isFalse();
    }

    @Test
    @DisplayName("PC-02 what a unit publishes is stored if and only if the unit commits")
    void publishedWithTheUnit() throws Exception {
        Outbox outbox = Outbox.named(name);
        Consumer publishing = Consumer.named("from-" + name)
                .publishesTo(outbox)
                .otherwise((message, tx) -> {
                    tx.publish(name, message("out of " + message.id().orElseThrow()));
                    if (message.id().orElseThrow().equals("bad")) {
                        throw new IllegalStateException("after it has published");
                    }
                    return "";
                })
                .build();
        assertThat(door().accept(publishing, message("bad"))).isInstanceOf(Outcome.Failed.class);
        assertThat(door().accept(publishing, message("good"))).isInstanceOf(Outcome.Processed.class);
        assertThat(door().accept(publishing, message("good"))).isInstanceOf(Outcome.Duplicate.class);
        Taking relay = new Taking(outbox.consumer(), 1, "relay", 10, true, Duration.ZERO, false);
        assertThat(ids(queue().lease(relay, LONG_LEASE))).containsExactly("out of good");
    }

    @Test
    @DisplayName(
            "RO-07 of an ordered consumer each key is worked on by one, in its order; a commit lets the next one go")
    void orderedByKey() throws Exception {
        storeOrdered("a1", "a2", "b1", "a3");
        Taking worker = worker(true);
        List<QueuedMessage> heads = queue().lease(worker, LONG_LEASE);
        assertThat(ids(heads)).containsExactlyInAnyOrder("a1", "b1");
        assertThat(queue().lease(worker(true), LONG_LEASE)).isEmpty();
        assertThat(queue().take(worker(true))).isEmpty();
        QueuedMessage first = heads.stream()
                .filter(m -> m.message().id().orElseThrow().equals("a1"))
                .findFirst()
                .orElseThrow();
        try (QueueBatch batch = queue().open(worker, List.of(first), true)) {
            work(batch, first.key(), fresh(), null);
            batch.commit();
        }
        queue().release(name, List.of("a"));
        try (QueueBatch rest = queue().take(worker(true)).orElseThrow()) {
            assertThat(ids(rest.messages())).containsExactly("a2", "a3");
        }
    }

    @Test
    @DisplayName(
            "RO-07 PC-04 nobody overtakes a message that failed or is parked, and a sweep releases messages that are still held")
    void behindOneThatFailed() throws Exception {
        storeOrdered("a1", "a2");
        Taking worker = worker(true);
        QueuedMessage head = queue().lease(worker, LONG_LEASE).get(0);
        queue().change(worker, List.of(change(head, QueueMove.FAIL, Duration.ofMinutes(5))));
        queue().release(name, List.of("a"));
        queue().recover(name);
        assertThat(queue().take(worker(true))).as("behind one that failed").isEmpty();
        storeOrdered("b1", "b2");
        QueuedMessage other = queue().lease(worker, LONG_LEASE).get(0);
        assertThat(ids(List.of(other))).containsExactly("b1");
        try (QueueBatch batch = queue().open(worker, List.of(other), true)) {
            work(batch, other.key(), fresh(), null);
            batch.commit();
        }
        queue().recover(name);
        assertThat(ids(queue().lease(worker, LONG_LEASE))).containsExactly("b2");
    }

    @Test
    @DisplayName("RO-01 a message that the door has parked is taken by nobody, counted, and known when it comes again")
    void parkedAtTheDoor() throws Exception {
        Consumer parking = Consumer.named(name)
                .parking(QueuePolicy.inTransaction())
                .otherwise((message, tx) -> "")
                .build();
        Message bad = message(fresh());
        assertThat(door().park(parking, bad, "POISON", null)).isNotNull();
        assertThat(queue().stats(name).parked()).isEqualTo(1);
        assertThat(queue().take(worker())).isEmpty();
        assertThat(queue().lease(worker(), LONG_LEASE)).isEmpty();
        assertThat(door().accept(parking, bad)).isInstanceOf(Outcome.Duplicate.class);
    }
}
