package dev.idem.jdbc;

import static dev.idem.jdbc.ReplayBench.GIVEN;
import static dev.idem.jdbc.ReplayBench.message;
import static dev.idem.jdbc.ReplayBench.of;
import static dev.idem.jdbc.ReplayBench.paying;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Policy.Replay;
import dev.idem.Position;
import dev.idem.Rejection;
import dev.idem.Settlement;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the doors make of a message that says it belongs to a replay session. */
class ReplayDoorTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 a session that nobody has asked for runs nothing, at any door and under any policy")
    void unknownIsRejected(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            bench.registered(paying(Replay.ALLOWED).build());
            bench.registered(Consumer.of("others"));
            bench.anna().dryRun().start("count", "payments", GIVEN);
            bench.anna().start("theirs", "others", GIVEN);
            for (Replay policy : Replay.values()) {
                Consumer direct = paying(policy).build();
                Consumer queued =
                        paying(policy).queued(QueuePolicy.inTransaction()).build();
                Consumer marks = paying(policy).watermark().build();
                for (String name : List.of("forged", "count", "theirs", "x".repeat(5000), "bad\u0000name")) {
                    Message message = of(message("m1"), name).toBuilder()
                            .position(new Position("topic", 0, 7))
                            .build();
                    List<Outcome<?>> outcomes = new ArrayList<>();
                    outcomes.add(bench.inbox.accept(direct, message));
                    outcomes.addAll(bench.inbox.acceptAll(direct, List.of(message)));
                    outcomes.add(bench.inbox.accept(queued, message));
                    outcomes.add(bench.inbox.accept(marks, message));
                    try (Connection outer = bench.db.plain().getConnection()) {
                        outer.setAutoCommit(false);
                        outcomes.add(bench.inbox
                                .within(outer)
                                .process(direct, message, tx -> "ran")
                                .outcome());
                        outer.rollback();
                    }
                    assertThat(outcomes)
                            .as("%s %s", policy, name.substring(0, 3))
                            .allSatisfy(outcome -> assertThat(outcome)
                                    .isInstanceOfSatisfying(
                                            Outcome.Rejected.class,
                                            r -> assertThat(r.reason()).isEqualTo(Rejection.UNKNOWN_SESSION)));
                }
            }
            assertThat(bench.db.payments()).isZero();
            assertThat(bench.db.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-03 where replays are forbidden, and where the session was aborted, a message is acknowledged and not run")
    void forbiddenAndAborted(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer forbidding = paying(Replay.FORBIDDEN).build();
            bench.registered(forbidding);
            bench.anna().start("one", "payments", GIVEN);
            bench.anna().start("two", "payments", GIVEN);
            bench.anna().abort("two");
            Outcome<?> forbidden = bench.inbox.accept(forbidding, of(message("m1"), "one"));
            assertThat(forbidden).isInstanceOf(Outcome.Suppressed.class);
            assertThat(forbidden.settlement()).isEqualTo(Settlement.ACK);
            assertThat(bench.inbox.accept(paying(Replay.ALLOWED).build(), of(message("m1"), "two")))
                    .isInstanceOf(Outcome.Suppressed.class);
            assertThat(bench.db.payments() + bench.db.markers()).isZero();
            assertThat(bench.inbox.accept(forbidding, message("m1"))).isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-03 a session that is done takes nothing new, whatever the policy, and what it has stored still runs")
    void doneTakesNothingNew(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer allowing = paying(Replay.ALLOWED).build();
            Consumer queued =
                    paying(Replay.ALLOWED).queued(QueuePolicy.inTransaction()).build();
            bench.registered(allowing);
            bench.anna().start("one", "payments", GIVEN);
            assertThat(bench.inbox.accept(allowing, message("m1"))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(queued, of(message("m2"), "one"))).isInstanceOf(Outcome.Stored.class);
            bench.db.execute("UPDATE idem_replay SET status = 'DONE' WHERE name = 'one'");
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> bench.inbox.accept(allowing, of(message("m1"), "one")) instanceof Outcome.Suppressed);
            long before = bench.db.payments();
            for (Replay policy : List.of(Replay.ALLOWED, Replay.UNDONE_ONLY, Replay.SUPPRESS_EFFECTS)) {
                Message again = of(message("m3"), "one");
                Outcome<?> outcome = bench.inbox.accept(paying(policy).build(), again);
                assertThat(outcome).isInstanceOf(Outcome.Suppressed.class);
                assertThat(outcome.settlement()).isEqualTo(Settlement.ACK);
            }
            assertThat(bench.db.payments()).isEqualTo(before);
            bench.inbox.start(queued);
            await().atMost(Duration.ofSeconds(20)).until(() -> bench.db.payments("m2") == 1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 a session does each message once for itself, and leaves the ordinary markers alone")
    void scopes(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer allowing = paying(Replay.ALLOWED).build();
            Consumer plain = paying(Replay.UNDONE_ONLY).build();
            String uuid = "018f3a52-7c1e-7d2a-9b57-0123456789ab";
            bench.registered(allowing);
            bench.anna().start("one", "payments", GIVEN);
            bench.anna().start("two", "payments", GIVEN);
            for (String id : List.of("m1", uuid)) {
                assertThat(bench.inbox.accept(allowing, message(id))).isInstanceOf(Outcome.Processed.class);
                for (String session : List.of("one", "two")) {
                    Message again = of(message(id), session);
                    assertThat(bench.inbox.accept(plain, again)).isInstanceOf(Outcome.Duplicate.class);
                    assertThat(bench.inbox.accept(allowing, again)).isInstanceOf(Outcome.Processed.class);
                    assertThat(bench.inbox.acceptAll(allowing, List.of(again)).get(0))
                            .isInstanceOf(Outcome.Duplicate.class);
                }
                assertThat(bench.inbox.accept(allowing, message(id))).isInstanceOf(Outcome.Duplicate.class);
                assertThat(bench.db.payments(id)).isEqualTo(3);
            }
            assertThat(bench.inbox.accept(plain, of(message("new"), "one"))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(plain, message("new"))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(allowing.suppressesEffects(of(message("m1"), "one"))).isFalse();
            assertThat(paying(Replay.SUPPRESS_EFFECTS).build().suppressesEffects(of(message("m1"), "one")))
                    .isTrue();
            assertThat(paying(Replay.SUPPRESS_EFFECTS).build().suppressesEffects(message("m1")))
                    .isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-01 a session that rebuilds also runs what is older than the horizon, once; without one it is undecidable")
    void olderThanTheWindow(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer allowing = paying(Replay.ALLOWED)
                    .policy(Policy.defaults().withReplay(Replay.ALLOWED).withWindow(Duration.ofHours(1)))
                    .build();
            Consumer plain = paying(Replay.UNDONE_ONLY)
                    .policy(Policy.defaults().withWindow(Duration.ofHours(1)))
                    .build();
            bench.registered(allowing);
            bench.db.execute("UPDATE idem_retention SET horizon = "
                    + Micros.of(Instant.now().minus(Duration.ofMinutes(50))));
            bench.anna().start("one", "payments", GIVEN);
            Message old = message("old").toBuilder()
                    .eventTime(Instant.now().minus(Duration.ofDays(30)))
                    .build();
            assertThat(bench.inbox.accept(plain, old)).isInstanceOf(Outcome.Undecidable.class);
            assertThat(bench.inbox.accept(plain, of(old, "one"))).isInstanceOf(Outcome.Undecidable.class);
            assertThat(bench.inbox.accept(allowing, of(old, "one"))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.acceptAll(allowing, List.of(of(old, "one"))).get(0))
                    .isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.db.payments("old")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 a watermark consumer's session has marks of its own, and moves no other")
    void watermarks(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer marks = paying(Replay.ALLOWED).watermark().build();
            bench.registered(marks);
            bench.anna().start("one", "payments", GIVEN);
            List<Message> both = List.of(at("m5", 5), at("m6", 6));
            List<Message> again = both.stream().map(m -> of(m, "one")).toList();
            assertThat(bench.inbox.acceptAll(marks, both)).allMatch(Outcome.Processed.class::isInstance);
            assertThat(bench.inbox.acceptAll(marks, again)).allMatch(Outcome.Processed.class::isInstance);
            assertThat(bench.inbox.acceptAll(marks, again)).allMatch(Outcome.Duplicate.class::isInstance);
            assertThat(bench.inbox.accept(marks, of(at("m9", 9), "one"))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.acceptAll(marks, both)).allMatch(Outcome.Duplicate.class::isInstance);
            assertThat(bench.inbox.accept(marks, at("m9", 9))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.db.payments()).isEqualTo(6);
        }
    }

    private static Message at(String id, long offset) {
        return message(id).toBuilder()
                .position(new Position("topic", 0, offset))
                .build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 what of a session waits in a queue when it is aborted is completed without its effect")
    void abortedInTheQueue(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer queued =
                    paying(Replay.ALLOWED).queued(QueuePolicy.inTransaction()).build();
            bench.registered(queued);
            bench.anna().start("one", "payments", GIVEN);
            assertThat(bench.inbox.accept(queued, of(message("m1"), "one"))).isInstanceOf(Outcome.Stored.class);
            assertThat(bench.inbox.accept(queued, message("m2"))).isInstanceOf(Outcome.Stored.class);
            bench.anna().abort("one");
            Thread.sleep(1_100); // what a door knows of a session is a second old at most
            bench.inbox.start(queued);
            org.awaitility.Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
            assertThat(bench.db.payments("m1")).isZero();
            assertThat(bench.db.payments("m2")).isEqualTo(1);
        }
    }
}
