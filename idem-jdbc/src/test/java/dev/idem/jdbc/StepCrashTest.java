package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.LongLane;
import dev.idem.steps.EffectPolicy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A worker that dies at any of its statements, before it or after it; another one takes over. One kind of effect at every
 * statement on PostgreSQL; the others, and other databases, at a third of them outside the long lane.
 */
class StepCrashTest {
    @ParameterizedTest
    @EnumSource(value = Database.class, names = "POSTGRESQL") // the others by asked
    @DisplayName("HX-14 wherever a worker dies, with a provider that recognises keys everything is done once")
    void retriedWithTheSameKey(Database database) {
        try (StepBench bench = new StepBench(database)) {
            int points = sweep(bench, LongLane.stride(3), EffectPolicy.retryWithSameKey(), true, (id, provider) -> {
                assertDone(bench, id, provider);
                assertThat(provider.calls()).hasSizeBetween(1, 2);
            });
            assertThat(points).isGreaterThan(20 / LongLane.stride(3) - 2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-14 wherever a worker dies, with a provider that can be asked everything is done once")
    void asked(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider[] current = new FakeProvider[1];
            int stride = database == Database.POSTGRESQL ? 1 : LongLane.stride(3);
            int points = sweep(
                    bench, stride, EffectPolicy.ask(key -> current[0].ask(key)), false, current, (id, provider) -> {
                        assertDone(bench, id, provider);
                        assertThat(provider.calls()).hasSize(1);
                    });
            assertThat(points).isGreaterThan(20 / stride - 2);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Database.class, names = "POSTGRESQL") // the others by asked
    @DisplayName("HX-14 wherever a worker dies, a provider that knows nothing is called once, or a person is asked")
    void parked(Database database) {
        try (StepBench bench = new StepBench(database)) {
            List<String> parked = new ArrayList<>();
            sweep(bench, LongLane.stride(3), EffectPolicy.park(), false, (id, provider) -> {
                assertThat(provider.calls()).hasSizeLessThanOrEqualTo(1);
                if (bench.isParked("EFFECT_UNKNOWN")) {
                    parked.add(id);
                    assertThat(bench.db.payments(id + "-reserved")).isEqualTo(1);
                    assertThat(bench.db.payments(id + "-booked")).isZero();
                    assertThat(bench.db.number("SELECT state FROM idem_step WHERE kind = 1 AND place = 1"))
                            .isEqualTo(2);
                    bench.db.execute("DELETE FROM idem_queue", "DELETE FROM idem_step");
                } else {
                    assertDone(bench, id, provider);
                }
            });
            assertThat(parked).isNotEmpty();
        }
    }

    private interface Check {
        void of(String id, FakeProvider provider);
    }

    private static void assertDone(StepBench bench, String id, FakeProvider provider) {
        assertThat(bench.db.payments(id + "-reserved")).isEqualTo(1);
        assertThat(bench.db.payments(id + "-booked")).isEqualTo(1);
        assertThat(provider.charges()).isEqualTo(1);
        assertThat(provider.keys()).isEqualTo(1);
        assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        assertThat(bench.db.number("SELECT count(*) FROM idem_step WHERE kind = 0 OR place <> -1 OR state <> 1"))
                .isZero();
    }

    private static int sweep(
            StepBench bench, int stride, EffectPolicy<String> policy, boolean recognises, Check check) {
        return sweep(bench, stride, policy, recognises, new FakeProvider[1], check);
    }

    /** Answers at how many points it died. */
    private static int sweep(
            StepBench bench,
            int stride,
            EffectPolicy<String> policy,
            boolean recognises,
            FakeProvider[] current,
            Check check) {
        int points = 0;
        boolean died = true;
        for (int n = LongLane.first(stride); died; n += stride) {
            died = false;
            for (boolean after : new boolean[] {false, true}) {
                FakeProvider provider = new FakeProvider(recognises);
                current[0] = provider;
                Consumer consumer = StepBench.consumer((message, steps) -> StepBench.order(steps, policy, provider));
                String id = "m" + n + after;
                bench.store(consumer, id);
                if (diesAt(bench, consumer, n, after)) {
                    died = true;
                    points++;
                    bench.letLeasesRunOut();
                    bench.runThrough(consumer);
                }
                check.of(id, provider);
            }
        }
        return points;
    }

    /** False when it was done before. */
    private static boolean diesAt(StepBench bench, Consumer consumer, int n, boolean after) {
        MortalDataSource mortal = new MortalDataSource(bench.db.plain());
        Inbox inbox = Inbox.create(bench.quick(mortal.dataSource()));
        inbox.register(consumer);
        mortal.dieAt(n, after);
        inbox.start(consumer);
        StepBench.until(() -> mortal.isDead() || bench.isQuiet());
        inbox.close();
        boolean early = mortal.isDead();
        mortal.die();
        return early && !bench.isQuiet();
    }
}
