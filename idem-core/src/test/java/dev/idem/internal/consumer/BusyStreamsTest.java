package dev.idem.internal.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BusyStreamsTest {
    private final AtomicLong now = new AtomicLong();
    private final BusyStreams streams = new BusyStreams(now::get);

    @Test
    @DisplayName("the longer a stream is busy the longer its messages are put off, but no longer than 5 s")
    void growing() {
        assertThat(streams.pause("c", "s")).isEqualTo(BusyStreams.SHORTEST);
        pass(Duration.ofSeconds(2));
        assertThat(streams.pause("c", "s")).isEqualTo(Duration.ofSeconds(2));
        for (int i = 0; i < 10; i++) {
            pass(Duration.ofSeconds(5));
            streams.pause("c", "s");
        }
        assertThat(streams.pause("c", "s")).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    @DisplayName("a stream that was busy yesterday, and was freed by another instance, begins anew")
    void forgotten() {
        streams.pause("c", "s");
        pass(Duration.ofSeconds(4));
        streams.pause("c", "s");
        pass(Duration.ofDays(1));
        assertThat(streams.pause("c", "s")).isEqualTo(BusyStreams.SHORTEST);
    }

    private void pass(Duration length) {
        now.addAndGet(length.toNanos());
    }
}
