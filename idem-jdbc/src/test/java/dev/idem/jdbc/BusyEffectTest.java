package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.steps.EffectAnswer;
import dev.idem.steps.EffectCall;
import dev.idem.steps.EffectPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** While one delivery of a message is inside a call, what will become of it is not unknown: others wait. */
class BusyEffectTest {
    private final CountDownLatch inside = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final AtomicInteger calls = new AtomicInteger();
    private final List<String> answers = Collections.synchronizedList(new ArrayList<>());

    private String slow() throws InterruptedException {
        calls.incrementAndGet();
        inside.countDown();
        Together.await(goOn);
        return "charged";
    }

    /** With one attempt: whatever counts as one parks. */
    private Consumer charging(EffectPolicy<String> policy, EffectCall<String, Exception> call) {
        return Consumer.named("orders")
                .queued(QueuePolicy.leased(StepBench.LEASE)
                        .withWorkers(1)
                        .withPoll(Duration.ofMillis(50))
                        .withRetry(RetryPolicy.fixed(Duration.ofMillis(1)).withMaxAttempts(1)))
                .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
                .otherwiseSteps(
                        (message, steps) -> answers.add(steps.effect("charge", policy, ResultCodec.text(), call)))
                .build();
    }

    private static Message inJuly() {
        return Db.message("m1").toBuilder().replaySession("july").build();
    }

    private void waits(Database database, EffectPolicy<String> policy) throws Exception {
        try (StepBench bench = new StepBench(database)) {
            Consumer consumer = charging(policy, key -> slow());
            bench.session("july");
            bench.store(consumer, inJuly());
            try (Inbox first = bench.start(consumer)) {
                Together.await(inside);
                bench.store(consumer, "m1");
                try (Inbox second = bench.start(consumer)) {
                    // It was taken, and has come back to wait: each take raises the fence.
                    StepBench.until(() -> bench.db.number(
                                    "SELECT count(*) FROM idem_queue WHERE status = 0 AND readable = 'm1' AND fence > 3")
                            == 1);
                    goOn.countDown();
                    StepBench.until(bench::isQuiet);
                }
            } finally {
                goOn.countDown();
            }
            assertThat(calls).hasValue(1);
            assertThat(answers).containsExactly("charged", "charged");
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 a delivery that finds another inside the call waits, and is not parked as unknown")
    void parking(Database database) throws Exception {
        waits(database, EffectPolicy.park());
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 a provider is not asked about a call that is still on its way")
    void asking(Database database) throws Exception {
        waits(database, EffectPolicy.ask(key -> EffectAnswer.notDone()));
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 a call that is still on its way is not made again beside it")
    void repeating(Database database) throws Exception {
        waits(database, EffectPolicy.retryWithSameKey());
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 a person cannot settle an effect while another delivery is inside the call")
    void people(Database database) throws Exception {
        try (StepBench bench = new StepBench(database)) {
            Consumer losing = charging(EffectPolicy.park(), key -> {
                throw new IOException("the answer was lost");
            });
            bench.store(losing, "m1");
            bench.runThrough(losing);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 4"))
                    .isEqualTo(1);
            Consumer again = charging(EffectPolicy.retryWithSameKey(), key -> slow());
            bench.session("july");
            bench.store(again, inJuly());
            try (Inbox inbox = bench.start(again)) {
                Together.await(inside);
                InboxOperator anna =
                        JdbcInbox.of(JdbcSchema.of(bench.db.plain())).as("anna", "a guess");
                long ordinary = bench.db.number("SELECT id FROM idem_queue WHERE status = 4");
                assertThatThrownBy(() -> anna.effectWasNotMade(ordinary, "charge"))
                        .isInstanceOf(IdemException.class)
                        .hasMessageContaining("another delivery");
                goOn.countDown();
                StepBench.until(bench::isQuiet);
            } finally {
                goOn.countDown();
            }
            bench.retryParked();
            bench.runThrough(again);
            assertThat(calls).hasValue(1);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }
}
