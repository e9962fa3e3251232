package dev.idem.internal.batch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.BatchFixture;
import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.FakeBatch;
import dev.idem.HandlerTimeoutException;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.StoreException;
import dev.idem.spi.HiddenCommitException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The handlers of one transaction: who fails alone, who is tried again in halves, and what is then left. */
class BatchRunTest extends BatchFixture {
    private static final Policy HASTY = Policy.defaults().withHandlerTimeout(Duration.ofMillis(100));
    private final List<List<String>> calls = new ArrayList<>();

    private void called(List<Message> events) {
        calls.add(events.stream().map(BatchFixture::id).toList());
    }

    @Test
    @DisplayName("RO-01 a batch handler that throws is called with halves until the guilty stand alone")
    void halves() {
        Consumer consumer = all((events, tx) -> {
            called(events);
            events.forEach(event -> store.write(id(event)));
            if (events.stream().anyMatch(event -> id(event).startsWith("bad"))) {
                throw new IllegalStateException("one of them");
            }
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "bad c", "d"))))
                .containsExactly("Processed", "Processed", "RETRYABLE", "Processed");
        assertThat(calls)
                .containsExactly(
                        List.of("a", "b", "bad c", "d"),
                        List.of("a", "b"),
                        List.of("bad c", "d"),
                        List.of("bad c"),
                        List.of("d"));
        assertThat(store.effects).containsExactly("a", "b", "d");
        assertThat(store.claims).hasSize(1);
        assertThat(events()).hasSize(4);
    }

    @Test
    @DisplayName("RO-01 also when the transaction is lost with it: then each half gets a new one")
    void halvesInTransactionsOfTheirOwn() {
        Consumer consumer = all((events, tx) -> {
            events.forEach(event -> store.write(id(event)));
            if (events.stream().anyMatch(event -> id(event).startsWith("bad"))) {
                store.running().lost = true;
                throw new IllegalStateException("one of them");
            }
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "bad b", "c", "d"))))
                .containsExactly("Processed", "RETRYABLE", "Processed", "Processed");
        assertThat(store.effects).containsExactly("a", "c", "d");
    }

    @Test
    @DisplayName("RO-01 a first half that loses the transaction leaves the second to the next one")
    void lostInTheFirstHalf() {
        Consumer consumer = all((events, tx) -> {
            called(events);
            if (events.size() == 1 && id(events.get(0)).startsWith("bad")) {
                store.running().lost = true;
            }
            if (events.stream().anyMatch(event -> id(event).startsWith("bad"))) {
                throw new IllegalStateException("one of them");
            }
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("bad a", "b")))).containsExactly("RETRYABLE", "Processed");
        assertThat(calls).containsExactly(List.of("bad a", "b"), List.of("bad a"), List.of("b"));
        assertThat(store.claims).containsExactly(List.of("bad a", "b"), List.of("b"));
    }

    @Test
    @DisplayName("PC-24 a batch handler that is late for one message's sake fails that one alone")
    void lateTogether() {
        Consumer consumer = all(HASTY, (events, tx) -> {
            if (events.stream().anyMatch(event -> id(event).startsWith("slow"))) {
                Thread.sleep(10_000);
            }
            events.forEach(event -> store.write(id(event)));
        });
        List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages("a", "slow b", "c"));
        assertThat(kinds(outcomes)).containsExactly("Processed", "RETRYABLE", "Processed");
        assertThat(((Outcome.Failed<?>) outcomes.get(1)).cause()).isInstanceOf(HandlerTimeoutException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(store.effects).containsExactly("a", "c");
    }

    @Test
    @DisplayName("PC-24 a late handler costs the others a new transaction and none of their runs")
    void lateAlone() {
        Consumer consumer = each(HASTY.withMaxRuns(1), (message, tx) -> {
            store.write(id(message));
            long end = System.nanoTime() + Duration.ofMillis(200).toNanos();
            while (id(message).startsWith("slow") && System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "slow b", "c"))))
                .containsExactly("Processed", "RETRYABLE", "Processed");
        assertThat(store.effects).containsExactly("a", "c");
        assertThat(events()).contains("timedOut PT0.1S");
    }

    @Test
    @DisplayName("PC-07 a handler that returns but has broken its unit fails alone")
    void brokenUnit() {
        Consumer consumer = each((message, tx) -> {
            store.write(id(message));
            if (id(message).equals("b")) {
                store.running().unit().revokeFault = new BrokenTransactionException("swallowed", false, null);
            }
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "c"))))
                .containsExactly("Processed", "RETRYABLE", "Processed");
        assertThat(store.effects).containsExactly("a", "c");
        assertThat(events()).contains("broken");
    }

    @Test
    @DisplayName("PC-07 a unit whose rollback finds the whole transaction broken is found by halves")
    void rollbackFindsItBroken() {
        AtomicInteger times = new AtomicInteger();
        Consumer consumer = each((message, tx) -> {
            if (id(message).equals("b")) {
                if (times.incrementAndGet() == 1) {
                    store.running().unit().rollbackFault = new BrokenTransactionException("gone", false, null);
                }
                throw new IllegalStateException("no");
            }
            store.write(id(message));
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "c"))))
                .containsExactly("Processed", "RETRYABLE", "Processed");
        assertThat(store.effects).containsExactly("a", "c");
    }

    @Test
    @DisplayName("PC-10 a unit whose rollback finds a hidden commit is for a person, the others go on")
    void rollbackFindsAHiddenCommit() {
        Consumer consumer = each((message, tx) -> {
            if (id(message).equals("b")) {
                FakeBatch.FakeUnit unit = store.running().unit();
                unit.rollbackFault = new HiddenCommitException(Set.copyOf(unit.keys), Set.of(), null);
                throw new IllegalStateException("no");
            }
            store.write(id(message));
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "c"))))
                .containsExactly("Processed", "TERMINAL", "Processed");
    }

    @Test
    void aRollbackThatFailsIsToldWithTheFailure() {
        Consumer consumer = each((message, tx) -> {
            store.running().unit().rollbackFault = new StoreException("no connection", null);
            throw new IllegalStateException("no");
        });
        Outcome<?> outcome = inbox.acceptAll(consumer, messages("a")).get(0);
        assertThat(((Outcome.Failed<?>) outcome).cause().getSuppressed()).hasSize(1);
    }

    @Test
    @DisplayName("PC-21 a handler that sent nothing is refused, alone, unless it says that there is nothing to do")
    void unusedTransaction() {
        Policy refuse = Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.REFUSE);
        Consumer consumer = each(refuse, (message, tx) -> {
            if (!id(message).equals("a")) {
                store.running().unit().unused();
            }
            if (id(message).equals("c")) {
                tx.nothingToDo();
            }
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "c"))))
                .containsExactly("Processed", "RETRYABLE", "Processed");
    }

    @Test
    void aBatchHandlerMaySayThatThereIsNothingToDo() {
        Consumer consumer = all((events, tx) -> {
            store.running().unit().unused();
            tx.nothingToDo();
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b")))).containsOnly("Processed");
    }

    @Test
    void aBatchHandlerThatFailsAllItsMessagesLeavesNothing() {
        Consumer consumer = all((events, tx) -> {
            assertThat(tx.consumer()).isEqualTo("batch");
            assertThat(tx.messages()).isEqualTo(events);
            for (int i = 0; i < events.size(); i++) {
                store.write("half of " + id(events.get(i)));
                tx.fail(i, new IllegalStateException("no"));
            }
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b")))).containsOnly("RETRYABLE");
        assertThat(store.effects).isEmpty();
        assertThat(store.markers).isEmpty();
    }

    @Test
    void aBatchHandlerThatFailsAMessageItWasNotGivenFailsItself() {
        Consumer consumer = all((events, tx) -> tx.fail(7, new IllegalStateException("who?")));
        List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages("a"));
        assertThat(((Outcome.Failed<?>) outcomes.get(0)).cause()).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    @DisplayName("HX-03 a decoder of a batch handler that is interrupted")
    void interruptedDecoder() {
        Consumer consumer = Consumer.named("batch")
                .onAll(
                        "t",
                        message -> {
                            throw new InterruptedException("stop");
                        },
                        (events, tx) -> {})
                .otherwise(writing())
                .build();
        assertThat(kinds(inbox.acceptAll(
                        consumer, List.of(message("a").toBuilder().type("t").build(), message("b")))))
                .containsOnly("INFRASTRUCTURE");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void neighboursOfOneTypeGoTogetherAndOthersDoNot() {
        Consumer consumer = Consumer.named("batch")
                .onAll("t", PayloadDecoder.message(), (events, tx) -> called(events))
                .onAll("u", PayloadDecoder.message(), (events, tx) -> called(events))
                .build();
        List<Message> batch = new ArrayList<>();
        for (String id : List.of("t1", "t2", "u3", "t4")) {
            batch.add(message(id).toBuilder().type(id.substring(0, 1)).build());
        }
        assertThat(kinds(inbox.acceptAll(consumer, batch))).containsOnly("Processed");
        assertThat(calls).containsExactly(List.of("t1", "t2"), List.of("u3"), List.of("t4"));
    }

    @Test
    void theResultIsStoredWithItsOwnMessage() {
        Consumer consumer = Consumer.named("batch")
                .on("t", PayloadDecoder.message(), (message, tx) -> "result of " + id(message), ResultCodec.text())
                .build();
        List<Message> batch = List.of(
                message("a").toBuilder().type("t").build(),
                message("b").toBuilder().type("t").build());
        inbox.acceptAll(consumer, batch);
        assertThat(inbox.acceptAll(consumer, batch))
                .extracting(outcome ->
                        ((Outcome.Duplicate<?>) outcome).storedResult().orElseThrow())
                .isEqualTo(List.of("result of a", "result of b"));
    }
}
