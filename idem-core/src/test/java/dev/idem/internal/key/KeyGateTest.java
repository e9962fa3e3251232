package dev.idem.internal.key;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.spi.MarkerKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class KeyGateTest {
    private static final MarkerKey KEY = key(1);
    private final Executor newThread = task -> new Thread(task).start();
    private final KeyGate gate = new KeyGate();

    @Test
    void aTwinGivesUpAfterItsWaitAndNotBefore() {
        KeyGate.Pass pass = gate.enter(KEY, Duration.ZERO).orElseThrow();
        long start = System.nanoTime();
        assertThat(elsewhere(Duration.ofMillis(30))).isFalse();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(30_000_000);
        assertThat(elsewhere(Duration.ZERO)).isFalse();
        pass.close();
        assertThat(elsewhere(Duration.ZERO)).isTrue();
    }

    @Test
    void aTwinEntersAsSoonAsTheFirstHasLeft() throws Exception {
        KeyGate.Pass pass = gate.enter(KEY, Duration.ZERO).orElseThrow();
        FutureTask<Boolean> twin = new FutureTask<>(() -> enterAndLeave(Duration.ofSeconds(30)));
        Thread thread = new Thread(twin);
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        pass.close();
        assertThat(twin.get()).isTrue();
    }

    @Test
    void otherKeysDoNotWait() {
        assertThat(gate.enter(KEY, Duration.ZERO)).isPresent();
        assertThat(gate.enter(key(2), Duration.ZERO)).isPresent();
        assertThat(gate.enter(new MarkerKey("other", KEY.value(), null), Duration.ZERO))
                .isPresent();
    }

    @Test
    void whoDoesNotWaitEntersOnlyWhereNobodyIs() throws Exception {
        KeyGate.Pass pass = gate.enterNow(KEY).orElseThrow();
        assertThat(elsewhere(Duration.ZERO)).isFalse();
        FutureTask<Boolean> twin = new FutureTask<>(() -> gate.enterNow(KEY).isPresent());
        newThread.execute(twin);
        assertThat(twin.get()).isFalse();
        pass.close();
        assertThat(gate.size()).isZero();
        gate.enterNow(KEY).orElseThrow().close();
        assertThat(gate.size()).isZero();
    }

    @Test
    @DisplayName("OP-03 no key stays behind, whether it was entered, given up or interrupted")
    void nothingLeaks() {
        for (int i = 0; i < 100_000; i++) {
            gate.enter(key(i), Duration.ZERO).orElseThrow().close();
        }
        KeyGate.Pass pass = gate.enter(KEY, Duration.ZERO).orElseThrow();
        elsewhere(Duration.ZERO);
        assertThat(CompletableFuture.supplyAsync(
                                () -> {
                                    Thread.currentThread().interrupt();
                                    boolean entered = gate.enter(KEY, Duration.ofSeconds(30))
                                            .isPresent();
                                    return !entered && Thread.currentThread().isInterrupted();
                                },
                                newThread)
                        .join())
                .as("HX-03 busy at once, and the flag is restored")
                .isTrue();
        pass.close();
        assertThat(gate.size()).isZero();
    }

    @Test
    @DisplayName("PC-01 of many twins one at a time is inside")
    void exclusion() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            all.add(CompletableFuture.runAsync(
                    () -> {
                        for (int i = 0; i < 2_000; i++) {
                            KeyGate.Pass pass = gate.enter(key(i % 3), Duration.ofSeconds(30))
                                    .orElseThrow();
                            if (i % 3 == 1) {
                                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                                inside.decrementAndGet();
                            }
                            pass.close();
                        }
                    },
                    newThread));
        }
        for (Future<?> one : all) {
            one.get();
        }
        assertThat(most).hasValue(1);
        assertThat(gate.size()).isZero();
    }

    private boolean elsewhere(Duration wait) {
        return CompletableFuture.supplyAsync(() -> enterAndLeave(wait), newThread)
                .join();
    }

    private boolean enterAndLeave(Duration wait) {
        return gate.enter(KEY, wait)
                .map(pass -> {
                    pass.close();
                    return true;
                })
                .orElse(false);
    }

    private static MarkerKey key(int i) {
        return new MarkerKey("c", new UUID(0, i), null);
    }
}
