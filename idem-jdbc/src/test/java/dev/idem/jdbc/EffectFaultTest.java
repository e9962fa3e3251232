package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.ResultCodec;
import dev.idem.jdbc.schema.Database;
import dev.idem.steps.EffectNotDoneException;
import dev.idem.steps.EffectPolicy;
import java.io.IOException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls that fail in ways that could be taken for others: nothing is forgotten, and nothing is called without end. */
class EffectFaultTest {
    private static final String STATE = "SELECT state FROM idem_step WHERE kind = 1";

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-14 a call that surely did nothing says nothing about the call before it, which stays unknown")
    void anEarlierUnknownStaysUnknown(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(true);
            Consumer consumer = StepBench.consumer((message, steps) ->
                    steps.effect("charge", EffectPolicy.retryWithSameKey(), key -> {
                        if (provider.calls().isEmpty()) {
                            provider.charge(key);
                            throw new IOException("no answer in time");
                        }
                        throw new EffectNotDoneException("nobody listens there", null);
                    }));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(bench.isParked("EXHAUSTED")).isTrue();
            assertThat(bench.db.number("SELECT count(*) FROM idem_step WHERE kind = 1"))
                    .as("the evidence of the first call")
                    .isEqualTo(1);
            assertThat(bench.db.number(STATE)).isEqualTo(2);
            Consumer careful = StepBench.consumer((message, steps) -> steps.effect("charge", provider::charge));
            bench.retryParked();
            bench.runThrough(careful);
            assertThat(bench.isParked("EFFECT_UNKNOWN")).isTrue();
            assertThat(provider.calls()).hasSize(1);
        }
    }

    /** A result by a name that no column has room for. */
    private static ResultCodec<String> named(String name) {
        return new ResultCodec<>() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public byte[] encode(String result) throws Exception {
                return ResultCodec.text().encode(result);
            }

            @Override
            public String decode(byte[] bytes) throws Exception {
                return ResultCodec.text().decode(bytes);
            }
        };
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a codec whose name cannot be stored is refused before the call, not after it")
    void aNameThatCannotBeStored(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(true);
            Consumer consumer = StepBench.consumer((message, steps) ->
                    steps.effect("charge", EffectPolicy.retryWithSameKey(), named("n".repeat(51)), provider::charge));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(bench.isParked("EXHAUSTED")).isTrue();
            assertThat(provider.calls()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a result that is too large to be stored ends with a person, after one call")
    void aResultThatCannotBeStored(Database database) {
        try (StepBench bench = new StepBench(database)) {
            AtomicInteger calls = new AtomicInteger();
            Consumer consumer = StepBench.consumer((message, steps) ->
                    steps.effect("report", EffectPolicy.retryWithSameKey(), ResultCodec.text(), key -> {
                        calls.incrementAndGet();
                        return "x".repeat(20 * 1024 * 1024);
                    }));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(bench.isParked("EFFECT_UNKNOWN")).isTrue();
            assertThat(calls).hasValue(1);
            assertThat(bench.db.number(STATE)).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a database that the call uses is not the store: its outages count as the handler's failures")
    void anotherDatabaseIsAway(Database database) {
        try (StepBench bench = new StepBench(database)) {
            AtomicInteger calls = new AtomicInteger();
            Consumer consumer = StepBench.consumer(
                    (message, steps) -> steps.effect("book", EffectPolicy.retryWithSameKey(), key -> {
                        calls.incrementAndGet();
                        throw new SQLTransientConnectionException("elsewhere", "08006");
                    }));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(bench.isParked("EXHAUSTED")).isTrue();
            assertThat(calls).hasValue(5);
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a call whose result the store refuses for ever is counted, and parked in the end")
    void aResultThatTheStoreRefuses(Database database) {
        try (StepBench bench = new StepBench(database)) {
            AtomicInteger calls = new AtomicInteger();
            Consumer consumer = StepBench.consumer(
                    (message, steps) -> steps.effect("book", EffectPolicy.retryWithSameKey(), key -> {
                        calls.incrementAndGet();
                    }));
            bench.store(consumer, "m1");
            bench.db.execute("ALTER TABLE idem_step ADD CONSTRAINT never_done CHECK (state <> 1)");
            try (Inbox inbox = bench.start(consumer)) {
                StepBench.until(bench::isQuiet);
            }
            assertThat(bench.isParked("EXHAUSTED")).isTrue();
            assertThat(calls).hasValue(5);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a step whose own statements meet an outage is not the handler's failure")
    void ourOwnDatabaseIsAway(Database database) {
        try (StepBench bench = new StepBench(database)) {
            AtomicInteger runs = new AtomicInteger();
            Consumer consumer = StepBench.consumer((message, steps) -> steps.step("book", tx -> {
                Db.pay(tx.connection(), "booked");
                if (runs.incrementAndGet() <= 3) {
                    Undone.by(tx.connection());
                }
            }));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(bench.db.payments("booked")).isEqualTo(1);
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isZero();
        }
    }
}
