package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.LeaseLostException;
import dev.idem.queue.QueuePolicy;
import dev.idem.steps.StepHandler;
import dev.idem.steps.StepMismatchException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Steps: done once each, found again, and only ever by whoever has the lease. */
class StepsTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    void aFinishedStepReturnsItsResultAndDoesNotRunAgain(Database database) {
        AtomicInteger reserves = new AtomicInteger();
        AtomicInteger fails = new AtomicInteger(2);
        List<Integer> attempts = Collections.synchronizedList(new ArrayList<>());
        try (StepBench bench = new StepBench(database)) {
            Consumer consumer = StepBench.consumer((message, steps) -> {
                attempts.add(steps.attempt());
                String result = steps.step("reserve", ResultCodec.text(), tx -> {
                    tx.defer("INSERT INTO payment (order_id) VALUES (?)", "reserved");
                    return "number " + reserves.incrementAndGet();
                });
                assertThat(result).isEqualTo("number 1");
                steps.step("book", tx -> {
                    Db.pay(tx.connection(), "booked");
                    if (fails.getAndDecrement() > 0) {
                        throw new IllegalStateException("not yet");
                    }
                });
            });
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(attempts).containsExactly(1, 2, 3);
            assertThat(reserves).hasValue(1);
            assertThat(bench.db.payments("reserved")).isEqualTo(1);
            assertThat(bench.db.payments("booked")).isEqualTo(1);
            assertThat(bench.db.number("SELECT count(*) FROM idem_step")).isZero();
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-01 LS-05 who loses the lease in the middle can commit no step, whatever it swallows, nor complete")
    void aStepAfterTheLeaseIsLostDoesNotCommit(Database database) throws Exception {
        CountDownLatch paused = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger runs = new AtomicInteger();
        AtomicReference<Throwable> seen = new AtomicReference<>();
        AtomicReference<Throwable> seenAgain = new AtomicReference<>();
        try (StepBench bench = new StepBench(database)) {
            StepHandler<Message> handler = (message, steps) -> {
                boolean first = runs.incrementAndGet() == 1;
                steps.step("one", tx -> Db.pay(tx.connection(), "one"));
                try {
                    steps.step("two", tx -> {
                        Db.pay(tx.connection(), "two");
                        if (first) {
                            paused.countDown();
                            Together.await(goOn);
                        }
                    });
                } catch (LeaseLostException lost) {
                    seen.set(lost);
                    try {
                        steps.step("three", tx -> Db.pay(tx.connection(), "never"));
                    } catch (LeaseLostException again) {
                        seenAgain.set(again);
                    }
                    return; // as if nothing had happened
                }
                steps.step("three", tx -> Db.pay(tx.connection(), "three"));
            };
            Consumer consumer = StepBench.consumer(handler);
            bench.store(consumer, "m1");
            try (Inbox late = bench.start(consumer)) {
                Together.await(paused);
                bench.letLeasesRunOut();
                try (Inbox other = bench.start(consumer)) {
                    StepBench.until(bench::isQuiet);
                }
                goOn.countDown();
                StepBench.until(() -> seenAgain.get() != null);
            }
            assertThat(seen.get()).isInstanceOf(LeaseLostException.class);
            assertThat(bench.db.payments("one")).isEqualTo(1);
            assertThat(bench.db.payments("two")).isEqualTo(1);
            assertThat(bench.db.payments("three")).isEqualTo(1);
            assertThat(bench.db.payments("never")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a message that is half done is parked when its type gets a handler without steps, leased or not")
    void aPlainHandlerDoesNotBeginAgain(Database database) {
        for (QueuePolicy policy : List.of(QueuePolicy.leased(StepBench.LEASE), QueuePolicy.inTransaction())) {
            try (StepBench bench = new StepBench(database)) {
                Consumer stepwise = StepBench.consumer((message, steps) -> {
                    steps.step("reserve", tx -> Db.pay(tx.connection(), "reserved"));
                    throw new dev.idem.TerminalException("to be continued", null);
                });
                bench.store(stepwise, "m1");
                bench.runThrough(stepwise);
                bench.retryParked();
                Consumer plain = Consumer.named("orders")
                        .queued(policy.withWorkers(1).withPoll(Duration.ofMillis(50)))
                        .otherwise((message, tx) -> {
                            Db.pay(tx.connection(), "reserved");
                            return null;
                        })
                        .build();
                bench.store(plain, "m2");
                bench.runThrough(plain);
                assertThat(bench.isParked("STEPS_CHANGED")).isTrue();
                assertThat(bench.db.payments("reserved")).as("of m1 and m2").isEqualTo(2);
                bench.retryParked();
                bench.runThrough(StepBench.consumer((message, steps) -> steps.step("reserve", tx -> {})));
                assertThat(bench.db.number("SELECT count(*) FROM idem_queue"))
                        .as("with the handler it was begun with it goes on")
                        .isZero();
            }
        }
    }

    /** What is stored is: one, two. */
    @ParameterizedTest
    @EnumSource(Database.class)
    void changedStepsAreFoundOut(Database database) {
        try (StepBench bench = new StepBench(database)) {
            assertChanged(bench, "renamed", "number 1, but step one is stored in that place", (message, steps) -> {
                steps.step("uno", tx -> Db.pay(tx.connection(), "wrong"));
            });
            assertChanged(bench, "reordered", "step two as number 1, but step one", (message, steps) -> {
                steps.step("two", tx -> Db.pay(tx.connection(), "wrong"));
                steps.step("one", tx -> Db.pay(tx.connection(), "wrong"));
            });
            assertChanged(bench, "inserted", "but step two is stored in that place", (message, steps) -> {
                steps.step("one", tx -> Db.pay(tx.connection(), "wrong"));
                steps.step("between", tx -> Db.pay(tx.connection(), "wrong"));
                steps.step("two", tx -> Db.pay(tx.connection(), "wrong"));
            });
            assertChanged(bench, "removed", "step two is stored as number 2", (message, steps) -> {
                steps.step("one", tx -> Db.pay(tx.connection(), "wrong"));
            });
            assertChanged(bench, "another-kind", "a step is stored under that name", (message, steps) -> {
                steps.effect("one", key -> Db.message("never"));
            });
            assertChanged(bench, "swallowed", "step one is stored in that place", (message, steps) -> {
                try {
                    steps.step("uno", tx -> Db.pay(tx.connection(), "wrong"));
                } catch (StepMismatchException swallowed) {
                    return;
                }
            });
            assertChanged(bench, "codec", "was stored by codec text", (message, steps) -> {
                steps.step("one", tx -> Db.pay(tx.connection(), "wrong"));
                steps.step("two", new Reversed(), tx -> "wrong");
            });
            assertThat(bench.db.payments("wrong")).isZero();
        }
    }

    private static void assertChanged(StepBench bench, String id, String said, StepHandler<Message> changed) {
        Consumer before = StepBench.consumer((message, steps) -> {
            steps.step("one", tx -> Db.pay(tx.connection(), id));
            steps.step("two", ResultCodec.text(), tx -> "two");
            throw new dev.idem.TerminalException("half done", null);
        });
        bench.store(before, id);
        bench.runThrough(before);
        bench.retryParked();
        bench.runThrough(StepBench.consumer(changed));
        assertThat(bench.isParked("STEPS_CHANGED")).as(id).isTrue();
        assertThat(new String(bytes(bench), java.nio.charset.StandardCharsets.UTF_8))
                .contains(said);
        bench.retryParked();
        bench.runThrough(StepBench.consumer((message, steps) -> {
            steps.step("one", tx -> Db.pay(tx.connection(), "wrong"));
            assertThat(steps.step("two", ResultCodec.text(), tx -> "wrong")).isEqualTo("two");
            steps.step("added", tx -> Db.pay(tx.connection(), id + "-added"));
        }));
        assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        assertThat(bench.db.payments(id)).isEqualTo(1);
        assertThat(bench.db.payments(id + "-added")).isEqualTo(1);
    }

    private static byte[] bytes(StepBench bench) {
        try (var connection = bench.db.plain().getConnection();
                var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT error FROM idem_queue")) {
            row.next();
            return row.getBytes(1);
        } catch (java.sql.SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void twoStepsOfOneNameAreRefusedAndStepsInsideStepsToo(Database database) {
        try (StepBench bench = new StepBench(database)) {
            AtomicReference<Throwable> nested = new AtomicReference<>();
            Consumer consumer = StepBench.consumer((message, steps) -> {
                steps.step("one", tx -> {
                    try {
                        steps.step("inner", inner -> {});
                    } catch (RuntimeException refused) {
                        nested.set(refused);
                    }
                });
                steps.step("one", tx -> Db.pay(tx.connection(), "wrong"));
            });
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(nested.get()).hasMessageContaining("Refused to begin inner inside one");
            assertThat(bench.isParked("STEPS_CHANGED")).isTrue();
            assertThat(bench.db.payments()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void theTimeIsForAllStepsTogether(Database database) {
        try (StepBench bench = new StepBench(database)) {
            AtomicInteger effects = new AtomicInteger();
            AtomicInteger runs = new AtomicInteger();
            Consumer consumer = StepBench.consumer(
                    QueuePolicy.leased(StepBench.LEASE),
                    Policy.defaults().withHandlerTimeout(Duration.ofMillis(600)),
                    (message, steps) -> {
                        runs.incrementAndGet();
                        for (int i = 0; i < 4; i++) { // each in time, all together not
                            steps.step("step-" + i, tx -> {
                                Db.pay(tx.connection(), "m1");
                                Thread.sleep(250);
                            });
                        }
                        effects.incrementAndGet();
                    });
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(runs.get()).isGreaterThan(1);
            assertThat(effects.get()).isPositive(); // more than once, if the time is up just behind the last step
            assertThat(bench.db.payments()).isEqualTo(4);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
            assertThat(bench.db.text("SELECT MIN(error_type) FROM idem_attempt"))
                    .contains("HandlerTimeoutException");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aStepThatCommitsByItselfIsParked(Database database) {
        try (StepBench bench = new StepBench(database)) {
            Consumer consumer = StepBench.consumer((message, steps) -> {
                steps.step("one", tx -> {
                    Db.pay(tx.connection(), "m1");
                    tx.connection()
                            .unwrap(java.sql.Connection.class)
                            .createStatement()
                            .execute(commit(database));
                });
            });
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 4"))
                    .isEqualTo(1);
            assertThat(bench.db.payments()).isLessThanOrEqualTo(1);
        }
    }

    /** Not recognised as one by the guard's look at the text. */
    private static String commit(Database database) {
        return database == Database.POSTGRESQL
                ? "DO $$ BEGIN PERFORM 1; END $$; COMMIT"
                : "CREATE TABLE sneaky (x INT)";
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void orderByKeyHoldsForSteps(Database database) {
        try (StepBench bench = new StepBench(database)) {
            List<String> done = Collections.synchronizedList(new ArrayList<>());
            Consumer consumer = StepBench.consumer(
                    QueuePolicy.leased(StepBench.LEASE).withOrderByKey(), Policy.defaults(), (message, steps) -> {
                        steps.step("one", tx -> Db.pay(tx.connection(), "m"));
                        done.add(message.id().orElseThrow());
                    });
            for (int i = 0; i < 5; i++) {
                bench.store(
                        consumer, Message.builder().id("m" + i).orderingKey("k").build());
            }
            bench.runThrough(consumer);
            assertThat(done).containsExactly("m0", "m1", "m2", "m3", "m4");
            assertThat(bench.db.payments()).isEqualTo(5);
        }
    }

    @Test
    void onlyLeasedConsumersHaveSteps() {
        assertThatThrownBy(() -> Consumer.named("orders")
                        .otherwiseSteps((message, steps) -> {})
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("queued(QueuePolicy.leased(…))");
        assertThatThrownBy(() -> Consumer.named("orders")
                        .queued(QueuePolicy.inTransaction())
                        .onSteps("a", m -> m, (message, steps) -> {})
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("queued(QueuePolicy.leased(…))");
    }

    private static final class Reversed implements ResultCodec<String> {
        @Override
        public String name() {
            return "reversed";
        }

        @Override
        public byte[] encode(String result) {
            return ResultCodec.text().toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
        }

        @Override
        public String decode(byte[] bytes) {
            return "";
        }
    }
}
