package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DeadlinesTest {
    private final List<String> calls = Collections.synchronizedList(new ArrayList<>());
    private final ScriptedUnit unit = new ScriptedUnit("c", calls);
    private final Deadlines deadlines = new Deadlines();

    @AfterEach
    void close() {
        deadlines.close();
    }

    @Test
    void aHandlerInTimeIsLeftAlone() {
        Deadlines.Watch watch = deadlines.watch(unit, Duration.ofMinutes(1));
        assertThat(watch.finish()).isFalse();
        assertThat(calls).isEmpty();
    }

    @Test
    @DisplayName("PC-24 a late handler is interrupted and its unit abandoned")
    void aLateHandler() throws Exception {
        Deadlines.Watch watch = deadlines.watch(unit, Duration.ofMillis(10));
        assertThatThrownBy(() -> new CountDownLatch(1).await()).isInstanceOf(InterruptedException.class);
        unit.abandoned.await();
        assertThat(watch.finish()).isTrue();
        assertThat(calls).containsExactly("abandon");
    }

    @Test
    @DisplayName("HX-03 our interrupt is taken back when nobody noticed it; somebody else's stays")
    void interruptFlags() {
        Deadlines.Watch late = deadlines.watch(unit, Duration.ofMillis(1));
        while (!Thread.currentThread().isInterrupted()) {
            Thread.onSpinWait();
        }
        assertThat(late.finish()).isTrue();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();

        Deadlines.Watch inTime = deadlines.watch(unit, Duration.ofMinutes(1));
        Thread.currentThread().interrupt();
        assertThat(inTime.finish()).isFalse();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("HX-03 the interrupt never hits what the thread does after its handler")
    void theInterruptHitsOnlyTheHandler() {
        int late = 0;
        for (int i = 0; i < 3_000; i++) {
            Deadlines.Watch watch = deadlines.watch(unit, Duration.ofNanos(i * 20L));
            late += watch.finish() ? 1 : 0;
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
        deadlines.close();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(calls).hasSizeLessThanOrEqualTo(late);
    }

    @Test
    @DisplayName("HX-03 an alarm that goes off just after the handler's end does nothing")
    void anAlarmAfterTheEnd() {
        Deadlines.Watch watch = deadlines.watch(unit, Duration.ofMinutes(1));
        watch.finish();
        watch.fire();
        assertThat(Thread.interrupted()).isFalse();
        assertThat(calls).isEmpty();
    }

    @Test
    void onceClosedNothingIsWatched() {
        deadlines.close();
        assertThatThrownBy(() -> deadlines.watch(unit, Duration.ofMinutes(1)))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("closed");
    }
}
