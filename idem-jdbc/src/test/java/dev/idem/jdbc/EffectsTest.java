package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.steps.EffectAnswer;
import dev.idem.steps.EffectKey;
import dev.idem.steps.EffectNotDoneException;
import dev.idem.steps.EffectPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Effects outside the database: an intent, a call, a result, and what becomes of those in between. */
class EffectsTest {
    private static final Policy REBUILT = Policy.defaults().withReplay(Policy.Replay.SUPPRESS_EFFECTS);
    private static final String STATE = "SELECT state FROM idem_step WHERE kind = 1";

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-14 the intent is committed before the call, and the result after it, outside any transaction")
    void threeSteps(Database database) {
        try (StepBench bench = new StepBench(database)) {
            List<Long> states = Collections.synchronizedList(new ArrayList<>());
            Consumer consumer = StepBench.consumer((message, steps) -> {
                steps.effect("mail", key -> {
                    states.add(bench.db.number(STATE));
                });
                states.add(bench.db.number(STATE));
            });
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(states).containsExactly(0L, 1L);
            assertThat(bench.db.number("SELECT count(*) FROM idem_step WHERE place = -1 AND state = 1"))
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aCallThatFailsLeavesTheEffectUnknownAndThePolicyDecides(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            Consumer consumer = StepBench.consumer((message, steps) -> steps.effect("charge", key -> {
                provider.charge(key);
                throw new IOException("the answer was lost");
            }));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(bench.isParked("EFFECT_UNKNOWN")).isTrue();
            assertThat(bench.db.number(STATE)).isEqualTo(2);
            bench.retryParked(); // a person who has not settled it changes nothing
            bench.runThrough(consumer);
            assertThat(bench.isParked("EFFECT_UNKNOWN")).isTrue();
            assertThat(provider.calls()).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void whatWasSurelyNotDoneIsCalledAgainUnderEveryPolicy(Database database) {
        try (StepBench bench = new StepBench(database)) {
            List<Long> before = Collections.synchronizedList(new ArrayList<>());
            FakeProvider provider = new FakeProvider(false);
            Consumer consumer = StepBench.consumer((message, steps) -> {
                before.add(bench.db.number("SELECT count(*) FROM idem_step"));
                steps.effect("charge", ResultCodec.text(), key -> {
                    if (before.size() < 3) {
                        throw new EffectNotDoneException("refused", null);
                    }
                    return provider.charge(key);
                });
            });
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(before).containsExactly(0L, 0L, 0L);
            assertThat(provider.charges()).isEqualTo(1);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aProviderThatCannotSayIsAskedAgainLaterAndThenAPersonIs(Database database) {
        try (StepBench bench = new StepBench(database)) {
            AtomicInteger asked = new AtomicInteger();
            AtomicInteger calls = new AtomicInteger();
            EffectPolicy<String> policy = EffectPolicy.ask(key -> {
                asked.incrementAndGet();
                return EffectAnswer.unknown();
            });
            Consumer consumer =
                    StepBench.consumer((message, steps) -> steps.effect("charge", policy, ResultCodec.text(), key -> {
                        calls.incrementAndGet();
                        throw new IOException("the answer was lost");
                    }));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(calls).hasValue(1);
            assertThat(asked).hasValue(4);
            assertThat(bench.isParked("EFFECT_UNKNOWN")).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-11 a worker that was paused before its call is known to the provider by its fence, and refused")
    void anOldFenceIsRefused(Database database) throws Exception {
        CountDownLatch paused = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger runs = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        FakeProvider provider = new FakeProvider(false).refusingOldFences();
        EffectPolicy<String> policy = EffectPolicy.ask(provider::ask);
        try (StepBench bench = new StepBench(database)) {
            Consumer consumer =
                    StepBench.consumer((message, steps) -> steps.effect("charge", policy, ResultCodec.text(), key -> {
                        if (runs.incrementAndGet() == 1) {
                            paused.countDown();
                            Together.await(goOn);
                        }
                        try {
                            return provider.charge(key);
                        } catch (IllegalStateException old) {
                            refused.incrementAndGet();
                            throw old;
                        }
                    }));
            bench.store(consumer, "m1");
            try (Inbox late = bench.start(consumer)) {
                Together.await(paused);
                bench.letLeasesRunOut();
                try (Inbox other = bench.start(consumer)) {
                    StepBench.until(bench::isQuiet);
                }
                goOn.countDown();
                StepBench.until(() -> refused.get() == 1);
            }
            assertThat(provider.charges()).isEqualTo(1);
            assertThat(provider.keys()).isEqualTo(1);
            assertThat(provider.calls()).extracting(EffectKey::fence).isSortedAccordingTo((a, b) -> Long.compare(b, a));
            assertThat(bench.db.number(STATE)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aReplayMakesNoEffectsAndAnswersWhatIsStored(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            List<String> answers = Collections.synchronizedList(new ArrayList<>());
            List<String> suppressed = Collections.synchronizedList(new ArrayList<>());
            EffectPolicy<String> policy = EffectPolicy.<String>park().withWhenSuppressed("none");
            Consumer consumer = StepBench.consumer(QueuePolicy.leased(StepBench.LEASE), REBUILT, (message, steps) -> {
                answers.add(steps.effect("charge", policy, ResultCodec.text(), provider::charge));
                steps.effect("mail", provider::charge);
            });
            InboxListener listener = new InboxListener() {
                @Override
                public void effectSuppressed(String consumer, String effect) {
                    suppressed.add(effect);
                }
            };
            bench.store(consumer, "m1");
            bench.runThrough(consumer, listener);
            assertThat(suppressed).isEmpty();
            bench.session("july");
            bench.store(consumer, replayed("m1"));
            bench.runThrough(consumer, listener);
            bench.store(consumer, replayed("m2"));
            bench.runThrough(consumer, listener);
            assertThat(provider.calls()).hasSize(2);
            assertThat(answers.get(1)).isEqualTo(answers.get(0)).startsWith("receipt");
            assertThat(answers.get(2)).isEqualTo("none");
            assertThat(suppressed).containsExactlyInAnyOrder("charge", "mail"); // of the message that was never done
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }

    private static Message replayed(String id) {
        return Db.message(id).toBuilder().replaySession("july").build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aReplayedEffectWithoutAnAnswerIsParked(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            Consumer consumer = StepBench.consumer(
                    QueuePolicy.leased(StepBench.LEASE),
                    REBUILT,
                    (message, steps) -> steps.effect("charge", ResultCodec.text(), provider::charge));
            bench.session("july");
            bench.store(consumer, replayed("m1"));
            bench.runThrough(consumer);
            assertThat(provider.calls()).isEmpty();
            assertThat(bench.isParked("TERMINAL")).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 an effect of which nobody knows is not made by a session that rebuilds either")
    void anUnknownEffectStaysUnknownInAReplay(Database database) {
        try (StepBench bench = new StepBench(database)) {
            AtomicInteger calls = new AtomicInteger();
            Policy rebuilt = Policy.defaults().withReplay(Policy.Replay.ALLOWED);
            Consumer consumer = StepBench.consumer(
                    QueuePolicy.leased(StepBench.LEASE),
                    rebuilt,
                    (message, steps) -> steps.effect("charge", key -> {
                        calls.incrementAndGet();
                        throw new IllegalStateException("no answer");
                    }));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(bench.isParked("EFFECT_UNKNOWN")).isTrue();
            bench.session("july");
            bench.store(consumer, replayed("m1"));
            bench.runThrough(consumer);
            assertThat(calls).hasValue(1);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 4"))
                    .isEqualTo(2);
            long ofTheSession = bench.db.number("SELECT max(id) FROM idem_queue");
            InboxOperator anna = JdbcInbox.of(JdbcSchema.of(bench.db.plain())).as("anna", "the provider says so");
            assertThat(anna.effectWasNotMade(ofTheSession, "charge")).isTrue();
            anna.retry(ofTheSession);
            bench.runThrough(consumer);
            assertThat(calls).as("what a person says holds for both").hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 what waits in the queue of a session that was aborted runs no steps")
    void anAbortedSessionMakesNoEffects(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            Consumer consumer = StepBench.consumer(
                    QueuePolicy.leased(StepBench.LEASE),
                    Policy.defaults().withReplay(Policy.Replay.ALLOWED),
                    (message, steps) -> steps.effect("charge", provider::charge));
            bench.session("july");
            bench.store(consumer, replayed("m1"));
            JdbcReplays.of(JdbcSchema.of(bench.db.plain()))
                    .as("anna", "a mistake")
                    .abort("july");
            bench.runThrough(consumer);
            assertThat(provider.calls()).isEmpty();
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void theKeyIsTheSameForEverAndAnothersForEverythingElse(Database database) {
        try (StepBench bench = new StepBench(database)) {
            List<String> keys = Collections.synchronizedList(new ArrayList<>());
            Consumer consumer = StepBench.consumer((message, steps) -> {
                steps.effect("a", key -> keys.add(key.value()));
                steps.effect("b", key -> keys.add(key.value()));
                steps.effect("c", EffectPolicy.park().withScope("shop"), key -> keys.add(key.value()));
            });
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            bench.db.execute("DELETE FROM idem_marker", "DELETE FROM idem_step");
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            bench.store(consumer, "m2");
            bench.runThrough(consumer);
            assertThat(keys).hasSize(9).allMatch(key -> key.matches("idem_[0-9a-f]{40}"));
            assertThat(keys.subList(3, 6)).isEqualTo(keys.subList(0, 3));
            assertThat(keys.stream().distinct()).hasSize(6);
            assertThat(keys.get(0)).isEqualTo("idem_69cde886538ec6ed74b06589e399dfcc2e1acdf8");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void theLedgerIsKeptForTheWindowAndAsLongAsTheMessageIsInTheQueue(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            Consumer consumer = StepBench.consumer((message, steps) -> {
                steps.effect("charge", provider::charge);
                if (message.id().orElseThrow().equals("parked")) {
                    throw new dev.idem.TerminalException("later", null);
                }
            });
            for (String id : List.of("done", "parked", "young")) {
                bench.store(consumer, id);
                bench.runThrough(consumer);
                if (!id.equals("young")) {
                    bench.db.execute(
                            "UPDATE idem_step SET stored_at = 1",
                            "UPDATE idem_marker SET marked_at =" + " TIMESTAMP '2001-01-01 00:00:00'");
                }
            }
            JdbcRetention.of(JdbcSchema.of(bench.db.plain())).run(List.of(), progress -> {});
            assertThat(bench.db.number("SELECT count(*) FROM idem_step")).isEqualTo(2);
            assertThat(bench.db.number("SELECT count(*) FROM idem_step WHERE place = 0"))
                    .as("of the parked message")
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aPersonSettlesWhatNobodyKnows(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            List<String> answers = Collections.synchronizedList(new ArrayList<>());
            Consumer consumer = StepBench.consumer((message, steps) -> {
                answers.add(steps.effect("charge", ResultCodec.text(), key -> {
                    if (provider.charge(key) != null && provider.calls().size() < 3) {
                        throw new IOException("the answer was lost");
                    }
                    return "third";
                }));
            });
            JdbcInbox people = JdbcInbox.of(JdbcSchema.of(bench.db.plain()));
            InboxOperator anna = people.as("anna", "asked the provider");
            for (String id : List.of("made", "not-made")) {
                bench.store(consumer, id);
                bench.runThrough(consumer);
                assertThat(bench.isParked("EFFECT_UNKNOWN")).isTrue();
                long number = people.find("orders", id).orElseThrow();
                assertThat(anna.effectWasMade(number, "other")).isFalse();
                boolean said = id.equals("made")
                        ? anna.effectWasMade(number, "charge", ResultCodec.text(), "by phone")
                        : anna.effectWasNotMade(number, "charge");
                assertThat(said).isTrue();
                assertThat(anna.effectWasNotMade(number, "charge")).as("twice").isFalse();
                anna.retry(number);
                bench.runThrough(consumer);
            }
            assertThat(answers).containsExactly("by phone", "third");
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
            assertThat(bench.db.number("SELECT count(*) FROM idem_audit WHERE action LIKE 'EFFECT%'"))
                    .isEqualTo(2);
        }
    }
}
