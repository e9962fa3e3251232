package dev.idem.internal.event;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.idem.BrokenTransactionException;
import dev.idem.Heard;
import dev.idem.InboxListener;
import dev.idem.Logged;
import dev.idem.Outcome;
import dev.idem.Rejection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EventsTest {
    private static final int CAPACITY = 8192;

    @Test
    @DisplayName("OP-04 a listener that throws, even an Error, disturbs neither the others nor the next event")
    void throwing() {
        Heard heard = new Heard();
        InboxListener throwing = new InboxListener() {
            @Override
            public void transactionUnused(String consumer) {
                throw new AssertionError("listener");
            }
        };
        try (Logged logged = new Logged()) {
            Events events = new Events(List.of(throwing, heard));
            events.tell(l -> l.transactionUnused("a"));
            events.tell(l -> l.transactionUnused("a"));
            events.close();
            assertThat(logged.lines(Level.WARN)).singleElement().asString().contains("failed");
            assertThat(logged.lines(Level.DEBUG)).hasSize(1);
        }
        assertThat(heard.events).containsExactly("unused", "unused");
    }

    @Test
    @DisplayName("OP-04 behind a listener that blocks events are counted as lost, and telling never waits")
    void blocking() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Heard heard = new Heard() {
            @Override
            public void unguarded(String consumer, Rejection reason) {
                blocked.countDown();
                awaitQuietly(release);
            }
        };
        try (Events events = new Events(List.of(heard))) {
            events.tell(l -> l.unguarded("c", Rejection.KEY_BLANK));
            blocked.await();
            for (int i = 0; i < CAPACITY + 7; i++) {
                events.tell(l -> l.transactionUnused("c"));
            }
            release.countDown();
            while (heard.events.size() < CAPACITY + 1) {
                Thread.onSpinWait(); // bounded by the test's timeout; closing would wait only two seconds
            }
        }
        assertThat(heard.events)
                .hasSize(CAPACITY + 1)
                .startsWith("lost 7", "unused")
                .endsWith("unused");
    }

    @Test
    @DisplayName("OP-01 closing takes bounded time, and a listener that swallows the interrupt gets nothing more")
    void closing() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        Events events = new Events(List.of(new InboxListener() {
            @Override
            public void transactionUnused(String consumer) {
                calls.incrementAndGet();
                blocked.countDown();
                awaitQuietly(new CountDownLatch(1));
                interrupted.countDown();
            }
        }));
        for (int i = 0; i < 10; i++) {
            events.tell(l -> l.transactionUnused("c"));
        }
        blocked.await();
        long start = System.nanoTime();
        events.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
        interrupted.await();
        assertThat(calls).hasValue(1);
    }

    @Test
    @DisplayName("HX-03 a thread that is interrupted while it closes goes on interrupted")
    void closingInterrupted() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        Events events = new Events(List.of(new InboxListener() {
            @Override
            public void transactionUnused(String consumer) {
                blocked.countDown();
                awaitQuietly(new CountDownLatch(1));
            }
        }));
        events.tell(l -> l.transactionUnused("c"));
        blocked.await();
        Thread.currentThread().interrupt();
        events.close();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aThreadWithNothingToDoEndsWhenItIsClosedInAHurry() {
        Events events = new Events(List.of(new Heard()));
        Thread.currentThread().interrupt();
        events.close();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void everyEventHasADefaultThatDoesNothing() {
        InboxListener silent = new InboxListener() {};
        silent.settled(new InboxListener.Delivery(
                "c", "t", new Outcome.Busy<>(), 0, Duration.ZERO, Duration.ZERO, Optional.empty()));
        silent.unguarded("c", Rejection.KEY_BLANK);
        silent.ranAgain("c", 2, new Exception());
        silent.commitUnknown("c", new Exception());
        silent.transactionUnused("c");
        silent.transactionBroken("c", new BrokenTransactionException("b", false, null));
        silent.timedOut("c", Duration.ZERO);
        silent.eventsLost(1);
    }

    @Test
    void withoutListenersNothingIsKept() {
        try (Events events = new Events(List.of())) {
            for (int i = 0; i < CAPACITY + 1; i++) {
                events.tell(l -> l.transactionUnused("c"));
            }
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException swallowed) {
            // on purpose: the flag is gone
        }
    }
}
