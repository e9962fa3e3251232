package dev.idem.broker.spi;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class RestartableListenerTest {
    private final List<Life> lives = new CopyOnWriteArrayList<>();
    private final Own listener = new Own(this::begin);

    private static final class Own extends RestartableListener<Life> {
        Own(Supplier<Life> start) {
            super(start, ofSeconds(1));
        }
    }

    private Life begin() {
        Life life = new Life();
        lives.add(life);
        return life;
    }

    private static final class Life implements ListenerRun {
        volatile ListenerState state = ListenerState.RUNNING;
        volatile boolean taking = true;
        volatile boolean closed;
        final CountDownLatch closing = new CountDownLatch(1);
        volatile CountDownLatch mayClose = new CountDownLatch(0);

        @Override
        public ListenerState state() {
            return state;
        }

        @Override
        public Optional<Throwable> failure() {
            return state == ListenerState.FAILED ? Optional.of(new IllegalStateException("broken")) : Optional.empty();
        }

        @Override
        public Optional<Waiting> waiting() {
            return Optional.of(new Waiting("queue q", Instant.EPOCH, "404"));
        }

        @Override
        public int pending() {
            return 1;
        }

        @Override
        public long pendingBytes() {
            return 2;
        }

        @Override
        public OptionalLong lag() {
            return OptionalLong.of(3);
        }

        @Override
        public void taking(boolean wanted) {
            taking = wanted;
        }

        @Override
        public void close(Duration longest) {
            closing.countDown();
            try {
                mayClose.await();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            closed = true;
            state = ListenerState.CLOSED;
        }
    }

    @Test
    void pausedIsWhatRunsOrStartsAndIsAskedToWait() {
        listener.pause();
        assertThat(listener.state()).isEqualTo(ListenerState.PAUSED);
        assertThat(lives.get(0).taking).isFalse();
        lives.get(0).state = ListenerState.STARTING;
        assertThat(listener.state()).isEqualTo(ListenerState.PAUSED);
        lives.get(0).state = ListenerState.WAITING;
        assertThat(listener.state()).isEqualTo(ListenerState.WAITING);
        lives.get(0).state = ListenerState.FAILED;
        assertThat(listener.state()).isEqualTo(ListenerState.FAILED);
        lives.get(0).state = ListenerState.RUNNING;
        listener.resume();
        assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
        assertThat(lives.get(0).taking).isTrue();
    }

    @Test
    void whatItWaitsForIsSaidOnlyWhileItWaits() {
        assertThat(listener.waiting()).isEmpty();
        lives.get(0).state = ListenerState.WAITING;
        assertThat(listener.waiting()).map(Waiting::what).contains("queue q");
        assertThat(listener.pending()).isEqualTo(1);
        assertThat(listener.pendingBytes()).isEqualTo(2);
        assertThat(listener.lag()).hasValue(3);
    }

    @Test
    void afterAFailureARestartBeginsAnew() {
        lives.get(0).state = ListenerState.FAILED;
        assertThat(listener.failure()).isPresent();
        listener.restart();
        assertThat(lives).hasSize(2);
        assertThat(lives.get(0).closed).isTrue();
        assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
        assertThat(listener.failure()).isEmpty();
    }

    @Test
    void aPausedListenerIsStillPausedAfterARestart() {
        listener.pause();
        listener.restart();
        assertThat(lives.get(1).taking).isFalse();
        assertThat(listener.state()).isEqualTo(ListenerState.PAUSED);
    }

    @Test
    void whatWasClosedIsNotRestarted() {
        listener.close();
        listener.close();
        assertThatThrownBy(listener::restart).isInstanceOf(IllegalStateException.class);
        assertThat(lives).hasSize(1);
    }

    @Test
    void closingDuringARestartLeavesNoLifeBehind() throws Exception {
        lives.get(0).mayClose = new CountDownLatch(1);
        Thread restart = new Thread(() -> {
            try {
                listener.restart();
            } catch (IllegalStateException closed) {
                assertThat(closed).hasMessageContaining("closed");
            }
        });
        restart.start();
        lives.get(0).closing.await();
        Thread close = new Thread(listener::close);
        close.start();
        listener.pause(); // not blocked by the restart
        lives.get(0).mayClose.countDown();
        restart.join();
        close.join();
        await().until(() -> lives.stream().allMatch(life -> life.closed));
        assertThat(listener.state()).isEqualTo(ListenerState.CLOSED);
    }
}
