package dev.idem.internal.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.ScriptedUnit;
import dev.idem.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
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
        Deadlines.Watch watch = deadlines.watch(unit, Duration.ofMinutes(1), () -> () -> calls.add("stuck"));
        assertThat(watch.finish()).isFalse();
        assertThat(calls).isEmpty();
    }

    @Test
    @DisplayName("PC-24 a late handler is interrupted and its unit abandoned")
    void aLateHandler() throws Exception {
        Deadlines.Watch watch = deadlines.watch(unit, Duration.ofMillis(10), () -> () -> calls.add("stuck"));
        assertThatThrownBy(() -> new CountDownLatch(1).await()).isInstanceOf(InterruptedException.class);
        unit.abandoned.await();
        assertThat(watch.finish()).isTrue();
        assertThat(calls).containsExactly("abandon");
    }

    @Test
    @DisplayName("HX-03 our interrupt is taken back when nobody noticed it; somebody else's stays")
    void interruptFlags() {
        Deadlines.Watch late = deadlines.watch(unit, Duration.ofMillis(1), () -> () -> calls.add("stuck"));
        while (!Thread.currentThread().isInterrupted()) {
            Thread.onSpinWait();
        }
        assertThat(late.finish()).isTrue();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();

        Deadlines.Watch inTime = deadlines.watch(unit, Duration.ofMinutes(1), () -> () -> calls.add("stuck"));
        Thread.currentThread().interrupt();
        assertThat(inTime.finish()).isFalse();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName(
            "HX-03 a request to stop that came before the deadline survives it, and so does one inside a statement")
    void aRequestToStopStays() {
        Thread.currentThread().interrupt();
        Deadlines.Watch late = deadlines.watch(unit, Duration.ofMinutes(1), () -> () -> {});
        late.fire();
        assertThat(late.finish()).isTrue();
        assertThat(Thread.interrupted()).isTrue();

        Deadlines.Watch inCall = deadlines.watch(() -> true, () -> {}, Duration.ofMinutes(1), () -> () -> {});
        inCall.fire();
        Thread.currentThread().interrupt();
        assertThat(inCall.finish()).isTrue();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("HX-03 the interrupt never hits what the thread does after its handler")
    void theInterruptHitsOnlyTheHandler() {
        int late = 0;
        for (int i = 0; i < 3_000; i++) {
            Deadlines.Watch watch = deadlines.watch(unit, Duration.ofNanos(i * 20L), () -> () -> calls.add("stuck"));
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
        Deadlines.Watch watch = deadlines.watch(unit, Duration.ofMinutes(1), () -> () -> calls.add("stuck"));
        watch.finish();
        watch.fire();
        assertThat(Thread.interrupted()).isFalse();
        assertThat(calls).isEmpty();
    }

    @Test
    void onceClosedNothingIsWatched() {
        deadlines.close();
        assertThatThrownBy(() -> deadlines.watch(unit, Duration.ofMinutes(1), () -> () -> {}))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("closed");
    }

    @Test
    @DisplayName("HX-04 a handler that ignores its deadline is told of once, and one that has returned is not")
    void stuck() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        List<Boolean> late = Collections.synchronizedList(new ArrayList<>());
        Thread handler = new Thread(() -> {
            Deadlines.Watch watch = deadlines.watch(unit, Duration.ofMillis(1), () -> told::countDown);
            while (end.getCount() > 0) {
                Thread.onSpinWait();
            }
            late.add(watch.finish());
        });
        handler.start();
        told.await();
        end.countDown();
        handler.join();
        assertThat(late).containsExactly(true);
        assertThat(calls).containsExactly("abandon");
    }

    @Test
    @DisplayName("HX-04 a handler inside a call is interrupted when that was cancelled, and has time to return")
    void interruptedAfterTheCall() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        Deadlines.Watch watch = deadlines.watch(
                () -> looks.incrementAndGet() <= 8, // longer than the grace
                () -> calls.add("abandon"),
                Duration.ofMillis(1),
                () -> () -> calls.add("stuck"));
        assertThatThrownBy(() -> new CountDownLatch(1).await()).isInstanceOf(InterruptedException.class);
        assertThat(watch.finish()).isTrue();
        assertThat(calls).containsExactly("abandon");
    }

    @Test
    @DisplayName("HX-04 what cannot be told of a stuck handler is told later")
    void toldLater() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Thread handler = new Thread(() -> {
            deadlines.watchHolding(unit, () -> {}, Duration.ofMillis(1), () -> {
                if (tries.incrementAndGet() == 1) {
                    throw new InternalError("on purpose");
                }
                return told::countDown;
            });
            while (end.getCount() > 0) {
                Thread.onSpinWait();
            }
        });
        handler.start();
        told.await();
        end.countDown();
        handler.join();
        assertThat(calls).isEmpty(); // who is told tears down
    }

    @Test
    @DisplayName("an Error while one handler is ended takes no other deadline along")
    void survivesErrors() throws Exception {
        deadlines.watch(
                () -> {
                    throw new InternalError("on purpose");
                },
                () -> {},
                Duration.ZERO,
                () -> () -> {});
        deadlines.watch(unit, Duration.ofMillis(20), () -> () -> {});
        assertThatThrownBy(() -> new CountDownLatch(1).await()).isInstanceOf(InterruptedException.class);
        unit.abandoned.await();
        assertThat(calls).containsExactly("abandon");
    }
}
