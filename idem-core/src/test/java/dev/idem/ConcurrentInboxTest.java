package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ConcurrentInboxTest extends InboxFixture {
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    @Test
    @DisplayName("PC-03 a twin of a running delivery is busy after its wait, without a connection and without an ACK")
    void aTwinIsBusy() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        store.thenGrant("c");
        Future<Outcome<String>> first = threads.submit(() -> inbox.process(CONSUMER, MESSAGE, tx -> {
            running.countDown();
            end.await();
            return "r";
        }));
        running.await();
        Policy impatient = Policy.defaults().withBusyWait(Duration.ofMillis(10));
        assertThat(inbox.process(with(impatient), MESSAGE, tx -> "r")).isEqualTo(new Outcome.Busy<>());
        assertThat(store.calls).containsExactly("claim");
        end.countDown();
        assertThat(first.get()).isEqualTo(new Outcome.Processed<>("r"));
    }

    @Test
    void timeSpentWaitingForATwinIsNotWaitedAgainInTheStore() throws Exception {
        Consumer patient = with(Policy.defaults().withBusyWait(Duration.ofSeconds(40)));
        CountDownLatch running = new CountDownLatch(1);
        Thread twin = Thread.currentThread();
        store.thenGrant("c");
        store.thenTakenBy("c");
        Future<Outcome<String>> first = threads.submit(() -> inbox.process(patient, MESSAGE, tx -> {
            running.countDown();
            while (twin.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            Thread.sleep(20);
            return "r";
        }));
        running.await();
        assertThat(inbox.process(patient, MESSAGE, tx -> "r")).isInstanceOf(Outcome.Duplicate.class);
        first.get();
        assertThat(store.requests.get(1).busyWait()).isLessThanOrEqualTo(Duration.ofMillis(39_980));
    }

    @Test
    @DisplayName("HX-04 no more units run at once than the inbox allows")
    void concurrencyIsBounded() throws Exception {
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        IntStream.range(0, 20).forEach(i -> store.thenGrant("c" + i));
        try (Inbox two = Inbox.builder(store).concurrency(2).build()) {
            List<Callable<Outcome<Integer>>> calls = IntStream.range(0, 20)
                    .<Callable<Outcome<Integer>>>mapToObj(i ->
                            () -> two.process(CONSUMER, Message.of("m-" + i, new byte[0]), tx -> {
                                most.accumulateAndGet(now.incrementAndGet(), Math::max);
                                Thread.sleep(2);
                                return now.decrementAndGet();
                            }))
                    .toList();
            for (Future<Outcome<Integer>> done : threads.invokeAll(calls)) {
                assertThat(done.get()).isInstanceOf(Outcome.Processed.class);
            }
        }
        assertThat(most).hasValueLessThanOrEqualTo(2);
    }
}
