package dev.idem.jdbc;

import static dev.idem.jdbc.ReplayBench.message;
import static dev.idem.jdbc.ReplayBench.of;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Policy.Replay;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.admin.InboxMessage;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Sequence;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a replay session means for the streams, the outputs and the steps of its messages. */
class ReplayOutputTest {
    private static final Outbox MAIL = Outbox.named("mail").unordered();

    private static Consumer publishing(Replay replay) {
        return Consumer.named("payments")
                .policy(Policy.defaults().withReplay(replay).withUnusedTransaction(Policy.UnusedTransaction.ALLOW))
                .publishesTo(MAIL)
                .otherwise((message, tx) -> {
                    tx.publish(
                            "mail", Message.builder().payload(message.payload()).build());
                    return null;
                })
                .build();
    }

    private static List<String> ids(ReplayBench bench) {
        return JdbcInbox.of(JdbcSchema.of(bench.db.plain()))
                .list(InboxFilter.all(), JdbcInbox.Sorted.OLDEST_FIRST, 100, Optional.empty())
                .messages()
                .stream()
                .map(InboxMessage::messageId)
                .toList();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-03 a session that rebuilds publishes the same ids again, or nothing where the policy suppresses effects")
    void outputs(Database database) {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer loud = publishing(Replay.ALLOWED);
            bench.inbox.accept(loud, message("m1"));
            bench.anna().start("again", "payments", ReplayBench.GIVEN);
            assertThat(bench.inbox.accept(loud, of(message("m1"), "again"))).isInstanceOf(Outcome.Processed.class);
            assertThat(ids(bench)).hasSize(2).containsOnly(ids(bench).get(0));
            bench.anna().start("quietly", "payments", ReplayBench.GIVEN);
            Consumer quiet = publishing(Replay.SUPPRESS_EFFECTS);
            assertThat(bench.inbox.accept(quiet, of(message("m1"), "quietly"))).isInstanceOf(Outcome.Processed.class);
            assertThat(ids(bench)).hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-09 a session that rebuilds has streams of its own, which begin as the others do")
    void streams(Database database) {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer versioned = ReplayBench.paying(Replay.ALLOWED)
                    .sequence(Sequence.by(
                                    m -> Optional.of("account"),
                                    m -> m.version().map(Long::valueOf))
                            .startingAt(Sequence.Start.at(1)))
                    .build();
            assertThat(bench.inbox.accept(versioned, version(1))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(versioned, version(2))).isInstanceOf(Outcome.Processed.class);
            bench.db.execute("DELETE FROM payment");
            bench.anna().start("again", "payments", ReplayBench.GIVEN);
            assertThat(bench.inbox.accept(versioned, of(version(2), "again")))
                    .as("its streams begin as the others do")
                    .isInstanceOf(Outcome.Held.class);
            assertThat(bench.inbox.accept(versioned, of(version(1), "again"))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(versioned, of(version(2), "again"))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(versioned, version(3)))
                    .as("ordinary traffic goes on where it was")
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(versioned, of(version(3), "again"))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(versioned, of(version(3), "again"))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.db.payments()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a stream whose name has as many characters as it may have is replayed as any other")
    void longStreams(Database database) {
        for (String name : List.of("s".repeat(1_000), "ß".repeat(1_000))) {
            try (ReplayBench bench = new ReplayBench(database)) {
                String session = "n".repeat(100);
                List<String> asked = new java.util.concurrent.CopyOnWriteArrayList<>();
                Consumer versioned = ReplayBench.paying(Replay.ALLOWED)
                        .sequence(Sequence.by(
                                        m -> Optional.of(m.header("stream").orElse(name)),
                                        m -> m.version().map(Long::valueOf))
                                .startingAt(Sequence.Start.lookup(stream -> {
                                    asked.add(stream);
                                    return 0;
                                })))
                        .build();
                assertThat(bench.inbox.accept(versioned, version(1))).isInstanceOf(Outcome.Processed.class);
                bench.anna().start(session, "payments", ReplayBench.GIVEN);
                assertThat(bench.inbox.accept(versioned, of(version(1), session)))
                        .isInstanceOf(Outcome.Processed.class);
                assertThat(bench.inbox.accept(versioned, of(version(2), session)))
                        .isInstanceOf(Outcome.Processed.class);
                assertThat(bench.inbox.accept(versioned, version(3))).isInstanceOf(Outcome.Held.class);
                assertThat(asked).containsExactly(name, name);
                for (String wrong : List.of(name + "s", "idem-replay/" + session + "/other")) {
                    assertThat(bench.inbox.accept(
                                    versioned,
                                    version(1).toBuilder()
                                            .id("other")
                                            .header("stream", wrong)
                                            .build()))
                            .as(wrong)
                            .isInstanceOfSatisfying(
                                    Outcome.Rejected.class,
                                    r -> assertThat(r.reason()).isEqualTo(dev.idem.Rejection.NO_VERSION));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 positions of a stream with a long name have marks of the session's own, too")
    void longPositions(Database database) {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer marks = ReplayBench.paying(Replay.ALLOWED).watermark().build();
            Message first = message("m1").toBuilder()
                    .position(new dev.idem.Position("s".repeat(1_000), 0, 7))
                    .build();
            bench.registered(marks);
            bench.anna().start("again", "payments", ReplayBench.GIVEN);
            assertThat(bench.inbox.accept(marks, first)).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(marks, of(first, "again"))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(marks, of(first, "again"))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.inbox.accept(marks, first)).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.db.payments()).isEqualTo(2);
        }
    }

    private static Message version(int number) {
        return message("v" + number).toBuilder()
                .version(Integer.toString(number))
                .build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("two steps of a message publish messages with ids of their own")
    void stepsPublish(Database database) {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer stepwise = Consumer.named("payments")
                    .queued(QueuePolicy.leased(Duration.ofMinutes(1)))
                    .publishesTo(MAIL)
                    .otherwiseSteps((message, steps) -> {
                        steps.step(
                                "first",
                                tx -> tx.publish("mail", Message.builder().build()));
                        steps.step(
                                "second",
                                tx -> tx.publish("mail", Message.builder().build()));
                    })
                    .build();
            bench.inbox.start(stepwise);
            bench.inbox.accept(stepwise, message("m1"));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> ids(bench).size() == 2 && !ids(bench).contains("m1"));
            assertThat(ids(bench)).doesNotHaveDuplicates();
        }
    }
}
