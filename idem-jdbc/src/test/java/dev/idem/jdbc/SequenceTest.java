package dev.idem.jdbc;

import static dev.idem.jdbc.SequenceBench.FROM_ONE;
import static dev.idem.jdbc.SequenceBench.message;
import static dev.idem.jdbc.SequenceBench.messages;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Rejection;
import dev.idem.Settlement;
import dev.idem.jdbc.schema.Database;
import dev.idem.sequence.Sequence;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The sequence guard of consumers that are acknowledged after the effect. */
class SequenceTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-09 old is stale, next is applied, further ahead is held and comes again, one by one and in lists")
    void verdicts(Database database) {
        try (SequenceBench bench = new SequenceBench(database)) {
            bench.streams("a", "b");
            Consumer consumer = bench.inline(FROM_ONE);
            Outcome<?> early = bench.inbox.accept(consumer, message("a", 2));
            assertThat(early).isEqualTo(new Outcome.Held<>(OptionalLong.of(1), false));
            assertThat(early.settlement()).isEqualTo(Settlement.RETRY);
            assertThat(bench.db.markers()).as("what is held leaves no marker").isZero();
            assertThat(bench.inbox.accept(consumer, message("a", 1))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(consumer, message("a", 1))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.inbox.accept(consumer, message("a", 1, "again"))).isEqualTo(new Outcome.Stale<>(1));
            assertThat(bench.inbox.accept(consumer, message("a", 2))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.db.markers()).isEqualTo(2);
            List<Message> list = new ArrayList<>(messages("b", 1, 2, 3, 5));
            list.add(message("a", 4));
            list.add(message("b", 2, "again"));
            list.add(message("a", 3));
            assertThat(bench.inbox.acceptAll(consumer, list))
                    .extracting(outcome -> outcome.getClass().getSimpleName())
                    .containsExactly("Processed", "Processed", "Processed", "Held", "Held", "Stale", "Processed");
            assertThat(bench.applied("a")).isEqualTo(3);
            assertThat(bench.applied("b")).isEqualTo(3);
            assertThat(bench.db.number("SELECT sum(current_version) FROM idem_sequence"))
                    .isEqualTo(6);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-07 a version that fails holds those behind it, and a repetition of it takes its place")
    void failures(Database database) {
        try (SequenceBench bench = new SequenceBench(database)) {
            bench.streams("a", "b", "c");
            Consumer consumer = bench.inline(FROM_ONE);
            bench.failing.add("a-2");
            bench.failing.add("b-1");
            List<Message> list = new ArrayList<>(messages("a", 1, 2, 3));
            list.addAll(messages("b", 1));
            list.add(message("b", 1, "again"));
            list.addAll(messages("b", 2));
            assertThat(bench.inbox.acceptAll(consumer, list))
                    .extracting(outcome -> outcome.getClass().getSimpleName())
                    .containsExactly("Processed", "Failed", "Held", "Failed", "Processed", "Held");
            assertThat(bench.applied("a")).isEqualTo(1);
            assertThat(bench.applied("b")).isEqualTo(1);
            assertThat(bench.db.markers()).isEqualTo(2);
            bench.failing.clear();
            assertThat(bench.inbox.acceptAll(consumer, messages("a", 2, 3)))
                    .allMatch(Outcome.Processed.class::isInstance);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a stream starts with 0, with what is seen first, or behind what a callback says")
    void starts(Database database) {
        try (SequenceBench bench = new SequenceBench(database)) {
            Sequence sequence = Sequence.by(Message::orderingKey, Sequence.header("version"));
            bench.streams("jump-first", "jump-looked", "zero");
            Consumer first = bench.inline(sequence.startingAt(Sequence.Start.firstSeen()));
            bench.failing.add("jump-first-9");
            assertThat(bench.inbox.accept(first, message("jump-first", 9))).isInstanceOf(Outcome.Failed.class);
            assertThat(bench.inbox.accept(first, message("jump-first", 5))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(first, message("jump-first", 4))).isEqualTo(new Outcome.Stale<>(5));
            assertThat(bench.inbox.accept(first, message("jump-first", 7)))
                    .isEqualTo(new Outcome.Held<>(OptionalLong.of(6), false));
            Consumer zero = bench.inline(sequence.startingAt(Sequence.Start.at(0)));
            assertThat(bench.inbox.accept(zero, message("zero", 1)))
                    .isEqualTo(new Outcome.Held<>(OptionalLong.of(0), false));
            Consumer looked = bench.inline(sequence.startingAt(Sequence.Start.lookup(stream -> 41)));
            assertThat(bench.inbox.accept(looked, message("jump-looked", 41))).isEqualTo(new Outcome.Stale<>(41));
            assertThat(bench.inbox.accept(looked, message("jump-looked", 42))).isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a message without a stream or a version is rejected, and takes no others along")
    void withoutVersion(Database database) {
        try (SequenceBench bench = new SequenceBench(database)) {
            bench.streams("a");
            Message none = Message.builder().id("x").orderingKey("a").build();
            Message word = none.toBuilder().header("version", new byte[] {'x'}).build();
            Consumer consumer = bench.inline(FROM_ONE);
            assertThat(bench.inbox.acceptAll(consumer, List.of(none, message("a", 1), word)))
                    .satisfiesExactly(
                            outcome -> assertThat(outcome)
                                    .isEqualTo(new Outcome.Rejected<>(Rejection.NO_VERSION, "it has no version")),
                            outcome -> assertThat(outcome).isInstanceOf(Outcome.Processed.class),
                            outcome -> assertThat(((Outcome.Rejected<?>) outcome).detail())
                                    .contains("NumberFormatException"));
            assertThat(bench.inbox.accept(consumer, none)).isInstanceOf(Outcome.Rejected.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-09 two first versions at the same time: one is applied, the other is stale or comes again")
    void firstVersionRace(Database database) throws Exception {
        try (SequenceBench bench = new SequenceBench(database)) {
            ExecutorService threads = Executors.newFixedThreadPool(4);
            Consumer consumer = Consumer.named("chain")
                    .policy(Policy.defaults().withBusyWait(Duration.ofSeconds(10)))
                    .sequence(FROM_ONE)
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), message.orderingKey().orElseThrow());
                        return null;
                    })
                    .build();
            for (int round = 0; round < 10; round++) {
                String stream = "r" + round;
                CyclicBarrier start = new CyclicBarrier(4);
                List<Future<Outcome<?>>> outcomes = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    Message message = message(stream, 1, "-" + i);
                    boolean alone = i < 2;
                    outcomes.add(threads.submit(() -> {
                        start.await();
                        return alone
                                ? bench.inbox.accept(consumer, message)
                                : bench.inbox
                                        .acceptAll(consumer, List.of(message))
                                        .get(0);
                    }));
                }
                int applied = 0;
                for (Future<Outcome<?>> outcome : outcomes) {
                    applied += outcome.get() instanceof Outcome.Processed ? 1 : 0;
                    assertThat(outcome.get())
                            .isInstanceOfAny(Outcome.Processed.class, Outcome.Stale.class, Outcome.Busy.class);
                }
                assertThat(applied).isEqualTo(1);
                assertThat(bench.db.payments(stream)).isEqualTo(1);
            }
            threads.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-10 a stream that is locked by a slow handler is busy, and the others of a list flow on")
    void slowStream(Database database) throws Exception {
        try (SequenceBench bench = new SequenceBench(database)) {
            bench.streams("a", "b");
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch mayEnd = new CountDownLatch(1);
            Consumer slow = Consumer.named("chain")
                    .sequence(FROM_ONE)
                    .otherwise((message, tx) -> {
                        tx.connection()
                                .createStatement()
                                .executeQuery("SELECT 1")
                                .next();
                        running.countDown();
                        mayEnd.await();
                        return null;
                    })
                    .build();
            bench.inbox.acceptAll(bench.inline(FROM_ONE), List.of(message("a", 1), message("b", 1)));
            Thread thread = new Thread(() -> bench.inbox.accept(slow, message("a", 2)));
            thread.start();
            running.await();
            List<Message> list = List.of(message("a", 3), message("b", 2), message("a", 2, "again"));
            assertThat(bench.inbox.acceptAll(bench.inline(FROM_ONE), list))
                    .extracting(outcome -> outcome.getClass().getSimpleName())
                    .containsExactly("Busy", "Processed", "Busy");
            mayEnd.countDown();
            thread.join();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("inside another transaction the version is moved by that one's commit, and by nothing else")
    void joined(Database database) throws Exception {
        try (SequenceBench bench = new SequenceBench(database);
                Connection outer = bench.db.plain().getConnection()) {
            bench.streams("a");
            Consumer consumer = bench.inline(FROM_ONE);
            bench.inbox.register(consumer);
            outer.setAutoCommit(false);
            Sequence unknown = FROM_ONE.startingAt(Sequence.Start.lookup(stream -> {
                throw new IllegalStateException("no answer");
            }));
            assertThat(bench.inbox
                            .within(outer)
                            .process(bench.inline(unknown), message("a", 1), tx -> null)
                            .outcome())
                    .as("nobody knows where it begins")
                    .isInstanceOf(Outcome.Busy.class);
            outer.commit();
            assertThat(bench.db.markers())
                    .as("a claim that was not judged does not stay")
                    .isZero();
            for (boolean commits : List.of(false, true)) {
                assertThat(bench.inbox
                                .within(outer)
                                .process(consumer, message("a", 2), tx -> null)
                                .outcome())
                        .isInstanceOf(Outcome.Held.class);
                var done = bench.inbox.within(outer).process(consumer, message("a", 1), tx -> null);
                done.confirm();
                if (commits) {
                    outer.commit();
                } else {
                    outer.rollback();
                }
                assertThat(bench.db.number("SELECT COALESCE(MAX(current_version), 0) FROM idem_sequence"))
                        .isEqualTo(commits ? 1 : 0);
            }
        }
    }
}
