package dev.idem.broker.spi;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.StoreException;
import dev.idem.broker.ScriptedInbox;
import dev.idem.broker.Waiting;
import dev.idem.spi.MarkerStore;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A store that does not answer is told from a handler that takes long. */
class StoreProbeTest {
    private final Semaphore answers = new Semaphore(0);
    private final AtomicBoolean throwing = new AtomicBoolean();
    private final AtomicInteger asked = new AtomicInteger();
    private final long since = System.nanoTime() - ofSeconds(1).toNanos();

    private final StoreProbe probe = new StoreProbe(
            "test",
            ScriptedInbox.over((MarkerStore) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {MarkerStore.Pingable.class},
                    (proxy, method, arguments) -> {
                        assertThat(method.getName()).isEqualTo("ping");
                        asked.incrementAndGet();
                        if (throwing.get()) {
                            throw new StoreException("away", null);
                        }
                        answers.acquire();
                        return null;
                    })),
            Thread::new,
            ofMillis(100),
            ofMillis(200));

    private Optional<Waiting> busy() {
        return probe.waiting(LongStream.of(since));
    }

    @Test
    void aFrozenStoreIsToldAndAskedOnceUntilItAnswers() {
        assertThat(busy()).isEmpty();
        await().until(() -> busy().isPresent());
        assertThat(busy()).get().satisfies(waiting -> assertThat(waiting.what()).isEqualTo("the store"));
        assertThat(asked).hasValue(1);
        answers.release(1_000);
        await().until(() -> busy().isEmpty());
    }

    @Test
    void aSlowHandlerIsNotTakenForAFrozenStore() {
        answers.release(1_000);
        await().during(ofMillis(600)).atMost(ofSeconds(10)).until(() -> busy().isEmpty());
        assertThat(asked.get()).isGreaterThan(1);
    }

    @Test
    void aStoreThatRefusesIsToldAndForgottenWhenLanesGoOn() {
        throwing.set(true);
        await().until(() -> busy().isPresent());
        throwing.set(false);
        answers.release(1_000);
        await().until(() -> probe.waiting(LongStream.empty()).isEmpty());
        await().during(ofMillis(300)).atMost(ofSeconds(10)).until(() -> busy().isEmpty());
    }

    @Test
    void nothingIsAskedWhileLanesAreQuick() {
        assertThat(probe.waiting(LongStream.of(System.nanoTime()))).isEmpty();
        assertThat(probe.waiting(LongStream.empty())).isEmpty();
        assertThat(asked).hasValue(0);
    }
}
