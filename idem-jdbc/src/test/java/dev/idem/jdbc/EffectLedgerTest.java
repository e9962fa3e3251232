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
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.steps.EffectPolicy;
import dev.idem.steps.StepHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One ledger for all deliveries of a message: what one of them has asked of a provider, the others know. */
class EffectLedgerTest {
    private static final ResultCodec<String> OTHER = new ResultCodec<>() {
        @Override
        public String name() {
            return "other";
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

    private static Consumer rebuilding(StepHandler<Message> handler) {
        return StepBench.consumer(
                QueuePolicy.leased(StepBench.LEASE), Policy.defaults().withReplay(Policy.Replay.ALLOWED), handler);
    }

    private static Message in(String session, String id) {
        return Db.message(id).toBuilder().replaySession(session).build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 two sessions and the ordinary delivery make an effect once, and all get its result")
    void onceForAllDeliveries(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            List<String> answers = Collections.synchronizedList(new ArrayList<>());
            Consumer consumer = rebuilding(
                    (message, steps) -> answers.add(steps.effect("charge", ResultCodec.text(), provider::charge)));
            for (String session : List.of("july", "august")) {
                bench.session(session);
                bench.store(consumer, in(session, "m1"));
                bench.runThrough(consumer);
            }
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            assertThat(provider.calls()).hasSize(1);
            assertThat(answers).hasSize(3).containsOnly(answers.get(0));
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-03 the ledger is kept for a window from the message's completion, however long before its effect was made")
    void completedLongAfterItsEffect(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            AtomicBoolean fails = new AtomicBoolean(true);
            Consumer consumer = rebuilding((message, steps) -> {
                steps.effect("charge", provider::charge);
                if (fails.get()) {
                    throw new IOException("not yet");
                }
            });
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            bench.db.execute("UPDATE idem_step SET stored_at = stored_at - " + Micros.of(Duration.ofDays(400)));
            fails.set(false);
            bench.retryParked();
            bench.runThrough(consumer);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
            JdbcRetention retention = JdbcRetention.of(JdbcSchema.of(bench.db.plain()));
            retention.run(List.of(), progress -> {});
            bench.session("july");
            bench.store(consumer, in("july", "m1"));
            bench.runThrough(consumer);
            assertThat(provider.calls()).hasSize(1);
            bench.db.execute("UPDATE idem_step SET stored_at = stored_at - " + Micros.of(Duration.ofDays(400)));
            retention.run(List.of(), progress -> {});
            assertThat(bench.db.number("SELECT count(*) FROM idem_step")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 an effect that was renamed is not made a second time by a session: its message is parked")
    void renamed(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            bench.store(rebuilding((message, steps) -> steps.effect("charge", provider::charge)), "m1");
            bench.runThrough(rebuilding((message, steps) -> steps.effect("charge", provider::charge)));
            Consumer renamed = rebuilding((message, steps) -> steps.effect("charge-card", provider::charge));
            bench.session("july");
            bench.store(renamed, in("july", "m1"));
            bench.runThrough(renamed);
            assertThat(bench.isParked("STEPS_CHANGED")).isTrue();
            assertThat(provider.calls()).hasSize(1);
            Consumer more = rebuilding((message, steps) -> {
                steps.effect("charge", provider::charge);
                steps.effect("mail", provider::charge);
            });
            bench.retryParked();
            bench.runThrough(more);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
            assertThat(provider.calls()).as("one more behind those is new").hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-03 a message that is published again gives its provider the key it knows, and the call is not repeated")
    void relayed(Database database) {
        try (StepBench bench = new StepBench(database)) {
            Outbox mails = Outbox.named("mails").unordered();
            List<String> keys = Collections.synchronizedList(new ArrayList<>());
            AtomicInteger fails = new AtomicInteger(1);
            Consumer sender = mails.relay(QueuePolicy.leased(StepBench.LEASE)
                            .withWorkers(1)
                            .withPoll(Duration.ofMillis(20))
                            .withRetry(RetryPolicy.fixed(Duration.ofMillis(1)).withMaxAttempts(3)))
                    .otherwiseSteps((mail, steps) -> steps.effect("send", EffectPolicy.retryWithSameKey(), key -> {
                        keys.add(key.value());
                        if (fails.getAndDecrement() > 0) {
                            throw new IOException("no answer");
                        }
                    }))
                    .build();
            Consumer payments = Consumer.named("payments")
                    .policy(Policy.defaults()
                            .withReplay(Policy.Replay.ALLOWED)
                            .withUnusedTransaction(Policy.UnusedTransaction.ALLOW))
                    .publishesTo(mails)
                    .otherwise((message, tx) -> {
                        tx.publish(
                                "mails",
                                Message.builder().payload(message.payload()).build());
                        return null;
                    })
                    .build();
            try (Inbox inbox = Inbox.create(bench.quick(bench.db.pool(4)))) {
                inbox.register(payments);
                JdbcReplays.of(JdbcSchema.of(bench.db.plain()))
                        .as("anna", "again")
                        .start("july", "payments", dev.idem.replay.ReplaySpec.of("stored"));
                inbox.accept(payments, Db.message("m1"));
                bench.runThrough(sender);
                inbox.accept(payments, in("july", "m1"));
                assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isEqualTo(1);
                bench.runThrough(sender);
            }
            assertThat(keys).hasSize(2).containsOnly(keys.get(0));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a person who says that an effect was made must say what it answered, in words the handler can read")
    void answersThatFit(Database database) {
        try (StepBench bench = new StepBench(database)) {
            List<String> answers = Collections.synchronizedList(new ArrayList<>());
            ResultCodec<?>[] codec = {ResultCodec.text()};
            @SuppressWarnings("unchecked")
            Consumer consumer = StepBench.consumer(
                    (message, steps) -> answers.add(steps.effect("charge", (ResultCodec<String>) codec[0], key -> {
                        throw new IOException("the answer was lost");
                    })));
            bench.store(consumer, "m1");
            bench.runThrough(consumer);
            JdbcInbox people = JdbcInbox.of(JdbcSchema.of(bench.db.plain()));
            InboxOperator anna = people.as("anna", "asked the provider");
            long number = people.find("orders", "m1").orElseThrow();
            assertThatThrownBy(() -> anna.effectWasMade(number, "charge"))
                    .isInstanceOf(IdemException.class)
                    .hasMessageContaining("text");
            assertThatThrownBy(() -> anna.effectWasMade(number, "charge", OTHER, "by phone"))
                    .isInstanceOf(IdemException.class)
                    .hasMessageContaining("other");
            assertThat(anna.effectWasMade(number, "charge", ResultCodec.text(), "by phone"))
                    .isTrue();
            codec[0] = OTHER; // a new version of the handler
            anna.retry(number);
            bench.runThrough(consumer);
            assertThat(bench.isParked("STEPS_CHANGED")).isTrue();
            assertThat(anna.effectWasMade(number, "charge", OTHER, "by phone")).isTrue();
            assertThatThrownBy(() -> anna.effectWasMade(number, "charge"))
                    .as("said again without an answer")
                    .isInstanceOf(IdemException.class);
            anna.retry(number);
            bench.runThrough(consumer);
            assertThat(answers).containsExactly("by phone");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("an effect that was made without a result has none for a handler that wants one now: it is parked")
    void aResultThatNobodyKept(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            List<String> answers = Collections.synchronizedList(new ArrayList<>());
            Consumer first = StepBench.consumer((message, steps) -> {
                steps.effect("charge", provider::charge);
                throw new dev.idem.TerminalException("not yet", null);
            });
            bench.store(first, "m1");
            bench.runThrough(first);
            bench.retryParked();
            bench.runThrough(StepBench.consumer(
                    (message, steps) -> answers.add(steps.effect("charge", ResultCodec.text(), provider::charge))));
            assertThat(bench.isParked("STEPS_CHANGED")).isTrue();
            assertThat(answers).isEmpty();
            assertThat(provider.calls()).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 a handler that no longer asks for an effect which was made is parked in a session")
    void noLongerAskedFor(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            Consumer charging = rebuilding((message, steps) -> steps.effect("charge", provider::charge));
            bench.store(charging, "m1");
            bench.runThrough(charging);
            Consumer silent = rebuilding((message, steps) -> {});
            bench.session("july");
            bench.store(silent, in("july", "m1"));
            bench.runThrough(silent);
            assertThat(bench.isParked("STEPS_CHANGED")).isTrue();
            bench.retryParked();
            bench.runThrough(charging);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
            assertThat(provider.calls()).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 where a session makes no effects, a new one in front of the others is left out as they are")
    void suppressedInFront(Database database) {
        try (StepBench bench = new StepBench(database)) {
            FakeProvider provider = new FakeProvider(false);
            Policy policy = Policy.defaults().withReplay(Policy.Replay.SUPPRESS_EFFECTS);
            Consumer charging = StepBench.consumer(
                    QueuePolicy.leased(StepBench.LEASE),
                    policy,
                    (m, steps) -> steps.effect("charge", provider::charge));
            bench.store(charging, "m1");
            bench.runThrough(charging);
            bench.session("july");
            bench.store(charging, in("july", "m1"));
            bench.runThrough(StepBench.consumer(QueuePolicy.leased(StepBench.LEASE), policy, (m, steps) -> {
                steps.effect("greet", provider::charge);
                steps.effect("charge", provider::charge);
            }));
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
            assertThat(provider.calls()).hasSize(1);
        }
    }
}
