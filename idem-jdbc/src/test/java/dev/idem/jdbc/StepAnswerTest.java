package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.LongLane;
import dev.idem.steps.EffectPolicy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A worker that loses the answer to one of its statements, and goes on: every statement on PostgreSQL, and in the long
 * lane; else each second one on the others.
 */
class StepAnswerTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-15 whichever answer is lost, all is done once, and nobody waits for the lease to run out")
    void lost(Database database) {
        try (StepBench bench = new StepBench(database)) {
            assertThat(sweep(bench, stride(database), false)).isGreaterThanOrEqualTo(10 / stride(database));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-15 the same when the server gets what was sent only a moment later, while it is tried again")
    void late(Database database) {
        try (StepBench bench = new StepBench(database)) {
            assertThat(sweep(bench, stride(database), true)).isGreaterThanOrEqualTo(10 / stride(database));
        }
    }

    private static int stride(Database database) {
        return database == Database.POSTGRESQL ? 1 : LongLane.stride(2);
    }

    /** Answers at how many points an answer was lost. */
    private static int sweep(StepBench bench, int stride, boolean late) {
        boolean struck = true;
        int points = 0;
        for (int n = LongLane.first(stride); struck; n += stride) {
            struck = strike(bench, n, late);
            points += struck ? 1 : 0;
        }
        return points;
    }

    private static boolean strike(StepBench bench, int n, boolean late) {
        String id = "m" + n;
        UnsureDataSource unsure = new UnsureDataSource(bench.db.plain());
        FakeProvider provider = new FakeProvider(true);
        AtomicInteger runs = new AtomicInteger();
        Consumer consumer = Consumer.named("orders")
                .queued(QueuePolicy.leased(Duration.ofMinutes(5)).withWorkers(1).withPoll(Duration.ofMillis(50)))
                .otherwiseSteps((message, steps) -> {
                    if (runs.incrementAndGet() == 1) {
                        unsure.loseAnswer(n, late);
                    }
                    StepBench.order(steps, EffectPolicy.retryWithSameKey(), provider);
                })
                .build();
        bench.store(consumer, id);
        try (Inbox inbox = bench.start(unsure.dataSource(), consumer)) {
            StepBench.until(bench::isQuiet);
        }
        assertThat(bench.db.payments(id + "-reserved")).as("%s reserved", id).isEqualTo(1);
        assertThat(bench.db.payments(id + "-booked")).as("%s booked", id).isEqualTo(1);
        assertThat(provider.charges()).as("%s charges", id).isEqualTo(1);
        assertThat(runs).as("%s: the handler need not know", id).hasValue(1);
        return unsure.hasStruck();
    }
}
