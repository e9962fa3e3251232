package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.Transaction;
import dev.idem.test.FlakyStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Whatever a handler does, it leaves all or nothing, and the key is free for the next delivery. */
abstract class HandlerContract extends VerdictContract {

    @Test
    @DisplayName("HX-02 HX-05 whatever a handler throws passes untouched, leaves nothing, and the redelivery runs")
    void anyThrowableLeavesNothing() throws Exception {
        Inbox inbox = inbox();
        for (Throwable thrown : List.of(
                new IOException("checked"),
                new IllegalStateException("runtime"),
                new AssertionError("error"),
                new StackOverflowError("too deep"),
                new OutOfMemoryError("not really"),
                new LinkageError("no such class"),
                new TerminalException("would fail again", null),
                new Throwable("neither exception nor error"))) {
            Message message = message(fresh());
            assertThatThrownBy(() -> deliver(inbox, consumer(), message, tx -> {
                        throw HandlerContract.<Exception>sneaky(thrown);
                    }))
                    .isSameAs(thrown);
            assertNothingLeft(message);
            assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Processed.class);
            assertDoneOnce(message);
        }
    }

    @Test
    @DisplayName("HX-02 a real stack overflow inside the handler leaves nothing")
    void realStackOverflowLeavesNothing() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh());
        assertThatThrownBy(() -> deliver(inbox, consumer(), message, tx -> "depth " + endless(0)))
                .isInstanceOf(StackOverflowError.class);
        assertNothingLeft(message);
        assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("HX-05 accept turns a failure into an outcome, and the redelivery runs")
    void failureOfAcceptIsAnOutcome() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh()).toBuilder().type("paid").build();
        Exception failure = new IOException("checked");
        Outcome<?> failed = inbox.accept(
                Consumer.named("contract")
                        .on("paid", PayloadDecoder.message(), (m, tx) -> {
                            writeEffect(tx, effectOf(m));
                            throw failure;
                        })
                        .build(),
                message);
        assertThat(failed).isEqualTo(new Outcome.Failed<>(Failure.RETRYABLE, failure));
        assertNothingLeft(message);
        noted(message, inbox.accept(accepting(consumer()), message));
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("HX-03 a handler that is interrupted leaves nothing, and it is not the message's fault")
    void interruptedHandlerLeavesNothing() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh()).toBuilder().type("paid").build();
        CompletableFuture<Thread> handler = new CompletableFuture<>();
        Consumer blocking = Consumer.named("contract")
                .on("paid", PayloadDecoder.message(), (m, tx) -> {
                    writeEffect(tx, effectOf(m));
                    handler.complete(Thread.currentThread());
                    new CountDownLatch(1).await();
                    return "never";
                })
                .build();
        Future<Outcome<?>> outcome = start(() -> {
            Outcome<?> failed = inbox.accept(blocking, message);
            assertThat(Thread.interrupted()).as("the interrupt is restored").isTrue();
            return failed;
        });
        result(handler).interrupt();
        assertThat(result(outcome))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.kind()).isEqualTo(Failure.INFRASTRUCTURE));
        assertNothingLeft(message);
        assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("HX-03 a delivery on an interrupted thread is processed or comes again, never lost")
    void deliveryOnAnInterruptedThreadIsNotLost() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh()).toBuilder().type("paid").build();
        result(start(() -> {
            Thread.currentThread().interrupt();
            Outcome<?> outcome = noted(message, inbox.accept(accepting(consumer()), message));
            Thread.interrupted();
            return outcome;
        }));
        deliverUntilSettled(inbox, consumer(), message);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-24 a handler that takes too long leaves nothing, and its key is usable again")
    void timedOutHandlerLeavesNothing() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh());
        assertThatThrownBy(() -> deliver(inbox, consumer(p -> p.withHandlerTimeout(SHORT)), message, tx -> {
                    new CountDownLatch(1).await(); // until the timeout interrupts it
                    return "never";
                }))
                .isInstanceOf(HandlerTimeoutException.class);
        assertThat(Thread.interrupted()).as("left over interrupt").isFalse();
        assertNothingLeft(message);
        assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-24 a handler that takes too long and does not notice is undone all the same")
    void deafHandlerIsUndone() throws Exception {
        Inbox here = inbox();
        Inbox elsewhere = inbox();
        Message message = message(fresh());
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch processedElsewhere = new CountDownLatch(1);
        Future<Outcome<String>> late =
                start(() -> deliver(here, consumer(p -> p.withHandlerTimeout(SHORT)), message, tx -> {
                    running.countDown();
                    awaitDeaf(processedElsewhere);
                    return "too late";
                }));
        await(running);
        // Its key is free as soon as the time is up, although the handler is still running.
        assertThat(deliverUntilSettled(elsewhere, consumer(), message)).isInstanceOf(Outcome.Processed.class);
        processedElsewhere.countDown();
        assertThatThrownBy(() -> result(late)).hasCauseInstanceOf(HandlerTimeoutException.class);
        assertThat(deliver(here, message)).isInstanceOf(Outcome.Duplicate.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-17 processing a key inside itself fails at once")
    void keyInsideItselfFailsAtOnce() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh());
        assertThatThrownBy(() -> deliver(inbox, consumer(), message, tx -> {
                    deliver(inbox, message);
                    return "never";
                }))
                .isInstanceOf(NestedProcessingException.class);
        assertNothingLeft(message);
        assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-17 processing a key inside itself through another inbox is busy in bounded time")
    void keyInsideItselfThroughAnotherInboxIsBusy() throws Exception {
        Inbox inbox = inbox();
        Inbox second = inbox();
        Message message = message(fresh());
        deliver(inbox, consumer(), message, tx -> {
            assertThat(deliver(second, consumer(p -> p.withBusyWait(SHORT)), message))
                    .isInstanceOf(Outcome.Busy.class);
            return "done";
        });
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-17 processing another key inside a unit is refused")
    void otherKeyInsideAUnitIsRefused() throws Exception {
        Inbox inbox = inbox();
        Message outer = message(fresh());
        Message inner = message(fresh());
        assertThatThrownBy(() -> deliver(inbox, consumer(), outer, tx -> {
                    deliver(inbox, inner);
                    return "never";
                }))
                .isInstanceOf(NestedProcessingException.class);
        assertNothingLeft(outer);
        assertNothingLeft(inner);
        assertThat(deliver(inbox, inner)).isInstanceOf(Outcome.Processed.class);
        assertThat(deliver(inbox, outer)).isInstanceOf(Outcome.Processed.class);
    }

    @Test
    @DisplayName("HX-13 PG-04 a unit that was undone runs again with a fresh transaction and the next number")
    void undoneUnitRunsAgain() throws Exception {
        Inbox inbox = inbox(Inbox.builder(FlakyStore.around(store()).undoCommits(2)));
        Message message = message(fresh());
        List<Transaction> transactions = new ArrayList<>();
        Outcome<String> outcome = deliver(inbox, consumer(), message, tx -> {
            transactions.add(tx);
            return "run " + tx.run();
        });
        assertThat(outcome).isEqualTo(new Outcome.Processed<>("run 3"));
        assertThat(transactions)
                .doesNotHaveDuplicates()
                .extracting(Transaction::run)
                .containsExactly(1, 2, 3);
        assertThat(transactions).allSatisfy(tx -> {
            assertThat(tx.message()).isSameAs(message);
            assertThat(tx.consumer()).isEqualTo("contract");
        });
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PG-04 a unit that is always undone gives up after its runs, and leaves nothing")
    void alwaysUndoneUnitGivesUp() throws Exception {
        FlakyStore flaky = FlakyStore.around(store()).undoCommits(100);
        Inbox inbox = inbox(Inbox.builder(flaky));
        Message message = message(fresh());
        List<Integer> runs = new ArrayList<>();
        assertThatThrownBy(() -> deliver(inbox, consumer(p -> p.withMaxRuns(3)), message, tx -> {
                    runs.add(tx.run());
                    return "never";
                }))
                .isInstanceOf(StoreException.class);
        assertThat(runs).containsExactly(1, 2, 3);
        assertNothingLeft(message);
        flaky.undoCommits(0);
        assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(message);
    }

    private static void awaitDeaf(CountDownLatch latch) {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (System.nanoTime() < end) {
            try {
                await(latch);
                return;
            } catch (InterruptedException ignored) {
                // this handler does not listen
            }
        }
    }

    @SuppressWarnings("InfiniteRecursion") // that is what it is for
    private static int endless(int depth) {
        return endless(depth + 1) + 1;
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <X extends Throwable> X sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }
}
