package dev.idem.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Inbox;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ThreadsTest {
    @Test
    @DisplayName("HX-03 what is repeated pauses also on a thread that is interrupted, and the interrupt stays")
    void pausesAlthoughInterrupted() {
        List<Long> tries = new ArrayList<>();
        Thread.currentThread().interrupt();
        Threads.untilDone(LoggerFactory.getLogger(Inbox.class), "not yet", () -> true, () -> {
            tries.add(System.nanoTime());
            if (tries.size() < 2) {
                throw new IllegalStateException("on purpose");
            }
        });
        assertThat(Thread.interrupted()).isTrue();
        assertThat(tries).hasSize(2);
        assertThat(Duration.ofNanos(tries.get(1) - tries.get(0))).isGreaterThan(Duration.ofMillis(500));
    }
}
