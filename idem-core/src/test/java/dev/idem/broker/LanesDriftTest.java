package dev.idem.broker;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.RetryPolicy;
import dev.idem.broker.spi.KeyedExecutor;
import dev.idem.broker.spi.Settler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** Whatever happens to deliveries, the sums of lanes are right at last, and nothing is lost. */
class LanesDriftTest {
    private static final Consumer CONSUMER = Consumer.of("c");

    private final Set<Integer> settled = ConcurrentHashMap.newKeySet();

    private final Settler<Integer> settler = new Settler<>() {
        @Override
        public void acknowledge(Integer delivery) {
            settled.add(delivery);
        }

        @Override
        public void setAside(Integer delivery, Message message, DeadLetter letter) throws Exception {
            failOrSettle(delivery);
        }

        @Override
        public boolean canPostpone(Duration delay) {
            return ThreadLocalRandom.current().nextBoolean();
        }

        @Override
        public void postpone(Integer delivery, Message message, Duration delay, int failures) throws Exception {
            failOrSettle(delivery);
        }

        private void failOrSettle(Integer delivery) throws Exception {
            if (ThreadLocalRandom.current().nextInt(3) == 0) {
                throw new IOException("at random");
            }
            settled.add(delivery);
        }
    };

    private static Outcome<?> random() {
        return switch (ThreadLocalRandom.current().nextInt(12)) {
            case 0 -> new Outcome.Failed<>(Failure.TERMINAL, new IllegalStateException("terminal"));
            case 1 -> new Outcome.Failed<>(Failure.RETRYABLE, new IllegalStateException("retryable"));
            case 2 -> new Outcome.Busy<>();
            default -> new Outcome.Processed<>("");
        };
    }

    @Test
    void theSumsNeverDrift() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        RetryPolicy quick = RetryPolicy.fixed(ofMillis(1)).withMaxAttempts(2);
        KeyedExecutor<Integer> lanes = KeyedExecutor.start(
                new KeyedExecutor.Options("test", 3, quick, Thread::new, 1_000, 1_000_000),
                ScriptedInbox.each(message -> random()),
                CONSUMER,
                settler);
        Set<Integer> forgotten = ConcurrentHashMap.newKeySet();
        int sent = 0;
        for (int round = 0; round < 40; round++) {
            List<KeyedExecutor.Delivery<Integer>> batch = new ArrayList<>();
            for (int i = 0; i < 25; i++) {
                String key = "k" + random.nextInt(30);
                Message message = Message.builder()
                        .id("m" + sent)
                        .orderingKey(key)
                        .payload(new byte[random.nextInt(100)])
                        .build();
                batch.add(new KeyedExecutor.Delivery<>(sent++, message, 0));
            }
            lanes.add(batch);
            if (random.nextInt(4) == 0) {
                int kind = random.nextInt(7);
                int before = sent;
                lanes.forget(
                        delivery -> {
                            boolean leaves = delivery < before && delivery % 7 == kind;
                            if (leaves) {
                                forgotten.add(delivery);
                            }
                            return leaves;
                        },
                        ofMillis(random.nextInt(5)));
            }
        }
        await().atMost(ofSeconds(60)).until(() -> lanes.pending() == 0);
        assertThat(lanes.pendingBytes()).as("seed %s", seed).isZero();
        for (int delivery = 0; delivery < sent; delivery++) {
            assertThat(settled.contains(delivery) || forgotten.contains(delivery))
                    .as("delivery %s, seed %s", delivery, seed)
                    .isTrue();
        }
        assertThat(lanes.close(ofSeconds(5))).isTrue();
        assertThat(lanes.failure()).isEmpty();
    }
}
