package dev.idem.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class QueueLimitTest {
    @Test
    @DisplayName("RO-12 while one receiver counts, the others go by what was counted last")
    void countedByOne() throws Exception {
        QueueLimit fullness = new QueueLimit(Duration.ZERO);
        assertThat(fullness.get(() -> true)).isTrue();
        AtomicInteger counts = new AtomicInteger();
        CountDownLatch counting = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Thread slow = new Thread(() -> fullness.get(() -> {
            counting.countDown();
            try {
                go.await();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            return false;
        }));
        slow.start();
        counting.await();
        for (int i = 0; i < 100; i++) {
            assertThat(fullness.get(() -> counts.incrementAndGet() > 0)).isTrue();
        }
        assertThat(counts).hasValue(0);
        go.countDown();
        slow.join();
    }

    @Test
    @DisplayName("RO-12 before the first count too only one receiver waits for the store; the others go on")
    void theFirstCount() throws Exception {
        QueueLimit fullness = new QueueLimit(Duration.ofMinutes(1));
        CountDownLatch counting = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger counts = new AtomicInteger();
        Thread slow = new Thread(() -> fullness.get(() -> {
            counting.countDown();
            try {
                go.await();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            return true;
        }));
        slow.start();
        counting.await();
        for (int i = 0; i < 100; i++) {
            assertThat(fullness.get(() -> counts.incrementAndGet() > 0)).isFalse();
        }
        go.countDown();
        slow.join();
        assertThat(fullness.get(() -> counts.incrementAndGet() > 0)).isTrue();
        assertThat(counts).hasValue(0);
    }
}
