package dev.idem.internal.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.InboxListener;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BreakerTest {
    @Test
    @DisplayName(
            "RO-11 a worker that found nothing does not end the pause of those whose turns fail; one that worked does")
    void findingNothingProvesNothing() {
        AtomicInteger paused = new AtomicInteger();
        AtomicInteger resumed = new AtomicInteger();
        Events events = new Events(List.of(new InboxListener() {
            @Override
            public void workersPaused(String consumer, Throwable cause) {
                paused.incrementAndGet();
            }

            @Override
            public void workersResumed(String consumer) {
                resumed.incrementAndGet();
            }
        }));
        Breaker breaker = new Breaker("payments", events);
        for (int i = 0; i < 5; i++) {
            breaker.opened(new IllegalStateException("cannot be taken"));
            breaker.answered(false);
        }
        breaker.answered(true);
        breaker.opened(new IllegalStateException("again"));
        events.close();
        assertThat(paused).as("two outages, not one at each look").hasValue(2);
        assertThat(resumed).hasValue(1);
    }
}
