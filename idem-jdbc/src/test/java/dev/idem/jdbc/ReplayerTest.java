package dev.idem.jdbc;

import static dev.idem.jdbc.ReplayBench.GIVEN;
import static dev.idem.jdbc.ReplayBench.message;
import static dev.idem.jdbc.ReplayBench.messages;
import static dev.idem.jdbc.ReplayBench.of;
import static dev.idem.jdbc.ReplayBench.paying;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Header;
import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Policy.Replay;
import dev.idem.TerminalException;
import dev.idem.jdbc.admin.JdbcAudit;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySession.State;
import dev.idem.replay.ReplaySpec;
import dev.idem.spi.ReplayStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sessions, from the request of a person to their end. */
class ReplayerTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-02 RP-04 a session delivers each message once, as it was, and again only to another session")
    void delivers(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            Queue<Message> seen = new ConcurrentLinkedQueue<>();
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withReplay(Replay.ALLOWED))
                    .otherwise((message, tx) -> {
                        seen.add(message);
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        return null;
                    })
                    .build();
            bench.given.addAll(messages(150));
            bench.inbox.acceptAll(consumer, bench.given);
            seen.clear();
            bench.replayer(consumer);
            bench.anna().start("one", "payments", GIVEN);
            ReplaySession one = bench.awaited("one", State.DONE);
            assertThat(one.counts()).isEqualTo(new ReplaySession.Counts(150, 150, 0, 0, 0, 0, 0));
            assertThat(one.total()).hasValue(150);
            assertThat(seen)
                    .extracting(m -> m.id().orElseThrow())
                    .containsExactlyElementsOf(
                            bench.given.stream().map(m -> m.id().orElseThrow()).toList());
            assertThat(seen).allSatisfy(m -> {
                assertThat(m.replaySession()).contains("one");
                assertThat(m.headers()).containsExactly(new Header("trace", "t-" + m.id().orElseThrow()));
                assertThat(m.orderingKey()).contains("m");
                assertThat(m.payload()).isEqualTo(m.id().orElseThrow().getBytes());
            });
            bench.anna().start("two", "payments", GIVEN);
            bench.awaited("two", State.DONE);
            assertThat(bench.db.payments()).isEqualTo(450);
            assertThat(bench.inbox.acceptAll(
                            consumer,
                            bench.given.stream().map(m -> of(m, "one")).toList()))
                    .as("known, or of a session that is done") // which is noticed within a second
                    .allMatch(outcome -> outcome instanceof Outcome.Duplicate || outcome instanceof Outcome.Suppressed);
            assertThat(bench.db.payments()).isEqualTo(450);
            assertThatThrownBy(() -> bench.anna().start("one", "payments", GIVEN))
                    .isInstanceOf(IdemException.class)
                    .hasMessageContaining("already");
            assertThatThrownBy(() -> bench.anna().start("three", "nobody", GIVEN))
                    .hasMessageContaining("nobody");
            assertThat(JdbcAudit.of(JdbcSchema.of(bench.db.plain())).newest())
                    .extracting(JdbcAudit.Entry::action)
                    .containsExactly(
                            "REPLAY_DONE",
                            "REPLAY_RUNNING",
                            "REPLAY_START",
                            "REPLAY_DONE",
                            "REPLAY_RUNNING",
                            "REPLAY_START");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-04 an executor that dies after a batch is followed by another, which repeats nothing; its own word counts no more")
    void takeover(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer consumer = paying(Replay.ALLOWED).build();
            bench.registered(consumer);
            bench.given.addAll(messages(60));
            bench.anna().start("one", "payments", GIVEN);
            ReplayStore store = bench.store.replays();
            ReplaySession dead = store.claim(Set.of("payments"), "dead", LONG).orElseThrow();
            ReplayStore.Step step = new ReplayStore.Step(
                    Replay.ALLOWED,
                    "10",
                    OptionalLong.of(60),
                    new ReplaySession.Counts(10, 10, 0, 0, 0, 0, 0),
                    null,
                    null);
            bench.inbox.acceptAll(
                    consumer,
                    bench.given.subList(0, 25).stream()
                            .map(m -> of(m, "one"))
                            .toList()); // 15 of them are not written down
            assertThat(store.progress(dead, step, LONG)).isPresent();
            assertThat(store.claim(Set.of("payments"), "early", LONG))
                    .as("while the lease is valid")
                    .isEmpty();
            bench.db.execute("UPDATE idem_replay SET lease_until = 1"); // it has run out
            bench.replayer(consumer);
            ReplaySession done = bench.awaited("one", State.DONE);
            assertThat(done.counts()).isEqualTo(new ReplaySession.Counts(60, 45, 15, 0, 0, 0, 0));
            assertThat(bench.db.payments()).isEqualTo(60);
            assertThat(bench.db.number("SELECT count(DISTINCT order_id) FROM payment"))
                    .isEqualTo(60);
            assertThat(store.progress(dead, step, LONG)).isEmpty();
            assertThat(store.end(dead, State.FAILED, "zombie")).isFalse();
            assertThat(bench.replays.status("one").orElseThrow().state()).isEqualTo(State.DONE);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a session is paused and aborted within seconds, and resumed where it was")
    void pauseResumeAbort(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer consumer = paying(Replay.ALLOWED).build();
            bench.given.addAll(messages(120));
            bench.replayer(consumer);
            bench.anna().perSecond(40).start("one", "payments", GIVEN);
            await().atMost(Duration.ofSeconds(30)).until(() -> bench.db.payments() > 5);
            bench.anna().pause("one");
            bench.anna().pause("one");
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> bench.replays
                            .status("one")
                            .orElseThrow()
                            .leaseUntil()
                            .isEmpty());
            long before = bench.db.payments();
            Thread.sleep(1_000);
            assertThat(bench.db.payments()).isEqualTo(before).isLessThan(120);
            bench.anna().resume("one");
            bench.awaited("one", State.DONE);
            assertThat(bench.db.payments()).isEqualTo(120);
            assertThatThrownBy(() -> bench.anna().pause("one")).hasMessageContaining("DONE");
            bench.anna().perSecond(40).start("two", "payments", GIVEN);
            await().atMost(Duration.ofSeconds(30)).until(() -> bench.db.payments() > 122);
            bench.anna().abort("two");
            Thread.sleep(1_500);
            before = bench.db.payments();
            Thread.sleep(500);
            assertThat(bench.db.payments()).isEqualTo(before).isLessThan(240);
            assertThatThrownBy(() -> bench.anna().resume("two")).hasMessageContaining("ABORTED");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 RP-01 a dry run counts what each policy would do, and does nothing")
    void dryRun(Database database) throws Exception {
        for (Replay policy : Replay.values()) {
            try (ReplayBench bench = new ReplayBench(database)) {
                Consumer consumer = paying(policy).build();
                bench.given.addAll(messages(10));
                bench.inbox.acceptAll(consumer, bench.given.subList(0, 4));
                bench.given.add(
                        message("old").toBuilder().eventTime(Instant.EPOCH).build());
                bench.given.add(Message.builder().build());
                bench.db.execute("UPDATE idem_retention SET horizon = 1000000");
                bench.replayer(consumer);
                bench.anna().dryRun().start("count", "payments", GIVEN);
                ReplaySession counted = bench.awaited("count", State.DONE);
                long runs = switch (policy) {
                    case UNDONE_ONLY -> 6;
                    case ALLOWED, SUPPRESS_EFFECTS -> 11;
                    case FORBIDDEN -> 0;
                };
                long suppressed = policy == Replay.FORBIDDEN || policy == Replay.SUPPRESS_EFFECTS ? 11 : 0;
                assertThat(counted.counts())
                        .as(policy.name())
                        .isEqualTo(new ReplaySession.Counts(12, runs, 4, suppressed, 1, 1, 0));
                assertThat(counted.policy()).contains(policy);
                assertThat(bench.db.payments()).isEqualTo(4);
                assertThat(bench.db.markers()).isEqualTo(4);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 a forced run races a worker on the same message: each does it once for its own scope, audited")
    void racesAWorker(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withReplay(Replay.ALLOWED))
                    .queued(QueuePolicy.leased(Duration.ofSeconds(30)).withWorkers(2))
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), message.replaySession().orElse("ordinary"));
                        if (message.replaySession().isEmpty()) {
                            running.countDown();
                            end.await(30, TimeUnit.SECONDS);
                        }
                        return null;
                    })
                    .build();
            bench.given.add(message("m1"));
            bench.inbox.accept(consumer, message("m1"));
            bench.inbox.start(consumer);
            assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
            bench.replayer(consumer);
            bench.replayer(consumer);
            bench.anna().start("forced", "payments", GIVEN);
            bench.awaited("forced", State.DONE);
            await().atMost(Duration.ofSeconds(30)).until(() -> bench.db.payments("forced") == 1);
            end.countDown();
            await().atMost(Duration.ofSeconds(30)).until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
            assertThat(bench.inbox.accept(consumer, message("m1"))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.inbox.accept(consumer, of(message("m1"), "forced")))
                    .isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.db.payments("ordinary")).isEqualTo(1);
            assertThat(bench.db.payments("forced")).isEqualTo(1);
            assertThat(bench.db.number(
                            "SELECT count(*) FROM idem_audit WHERE action = 'REPLAY_START' AND actor = 'anna'"))
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("what must come again comes again in order; what never succeeds is counted, and the rest goes on")
    void failures(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            Queue<String> order = new ConcurrentLinkedQueue<>();
            AtomicInteger tries = new AtomicInteger();
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withReplay(Replay.ALLOWED))
                    .otherwise((message, tx) -> {
                        String id = message.id().orElseThrow();
                        if (id.equals("m3") && tries.incrementAndGet() < 3) {
                            throw new IllegalStateException("not yet");
                        }
                        if (id.equals("m5")) {
                            throw new TerminalException("never", null);
                        }
                        order.add(id);
                        tx.nothingToDo();
                        return null;
                    })
                    .build();
            bench.given.addAll(messages(10));
            bench.replayer(consumer);
            bench.anna().start("one", "payments", GIVEN);
            ReplaySession done = bench.awaited("one", State.DONE);
            assertThat(done.counts()).isEqualTo(new ReplaySession.Counts(10, 9, 0, 0, 0, 0, 1));
            assertThat(done.error()).hasValueSatisfying(e -> assertThat(e).contains("m5", "TerminalException"));
            assertThat(List.copyOf(new java.util.LinkedHashSet<>(order)))
                    .containsExactly("m0", "m1", "m2", "m3", "m4", "m6", "m7", "m8", "m9");
            bench.anna().start("strange", "payments", ReplaySpec.of("carrier-pigeon"));
            assertThat(bench.awaited("strange", State.FAILED).error().orElseThrow())
                    .contains("carrier-pigeon");
        }
    }
}
