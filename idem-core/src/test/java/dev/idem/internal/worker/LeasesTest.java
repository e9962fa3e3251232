package dev.idem.internal.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Message;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LeasesTest {
    private static final QueueStore.Taking TAKING = new QueueStore.Taking("c", 1, "w", 10, false, Duration.ZERO, false);

    private final List<Integer> renewed = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch calls = new CountDownLatch(3);
    private final AtomicInteger errors = new AtomicInteger();

    @Test
    @DisplayName("LS-02 all leases of an instance are renewed by one statement")
    void together() throws Exception {
        try (Leases leases = new Leases(store())) {
            for (int i = 0; i < 60; i++) {
                leases.keep(TAKING, List.of(message(i)), Duration.ofMillis(300), () -> {});
            }
            assertThat(calls.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(renewed).contains(60).hasSizeLessThan(20);
        }
    }

    @Test
    @DisplayName("LS-03 nothing is renewed after the close, also not what still runs")
    void closed() throws Exception {
        Leases leases = new Leases(store());
        leases.keep(TAKING, List.of(message(1)), Duration.ofMillis(100), () -> {});
        assertThat(calls.await(30, TimeUnit.SECONDS)).isTrue();
        leases.close();
        int before = renewed.size();
        TimeUnit.MILLISECONDS.sleep(200);
        assertThat(renewed.size()).isLessThanOrEqualTo(before + 1);
    }

    @Test
    @DisplayName("an Error of the store does not end the renewal")
    void survivesErrors() throws Exception {
        errors.set(2);
        try (Leases leases = new Leases(store())) {
            leases.keep(TAKING, List.of(message(1)), Duration.ofMillis(100), () -> {});
            assertThat(calls.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @DisplayName("a batch that takes long is told so, once, if others could have some of it")
    void slow() throws Exception {
        CountDownLatch slow = new CountDownLatch(1);
        AtomicInteger told = new AtomicInteger();
        try (Leases leases = new Leases(store())) {
            leases.keep(TAKING, List.of(message(1)), Duration.ofMillis(300), told::incrementAndGet);
            leases.keep(TAKING, List.of(message(2), message(3)), Duration.ofMillis(300), () -> {
                told.incrementAndGet();
                slow.countDown();
            });
            assertThat(slow.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(calls.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(told).hasValue(1);
        }
    }

    private QueueStore store() {
        return (QueueStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {QueueStore.class}, (proxy, method, args) -> {
                    if (errors.getAndDecrement() > 0) {
                        throw new InternalError("on purpose");
                    }
                    renewed.add(((List<?>) Objects.requireNonNull(args)[1]).size());
                    calls.countDown();
                    return 0;
                });
    }

    private static QueuedMessage message(int id) {
        return new QueuedMessage(
                id,
                new MarkerKey("c", new UUID(0, id), null),
                Message.builder().build(),
                1,
                1,
                0,
                Instant.EPOCH,
                Duration.ZERO,
                false,
                false,
                null);
    }
}
