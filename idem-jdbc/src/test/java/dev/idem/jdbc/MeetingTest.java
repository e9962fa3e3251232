package dev.idem.jdbc;

import static dev.idem.jdbc.SequenceBench.messages;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy.Replay;
import dev.idem.RetryPolicy;
import dev.idem.broker.spi.DeliveryDecider;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxEdit;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession;
import dev.idem.sequence.Sequence;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where streams, outboxes, replays and parking meet what was there before them. */
class MeetingTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-09 a stream that begins with what was stored first does so although that fails, or is with another worker")
    void firstSeenFails(Database database) {
        try (SequenceBench bench = new SequenceBench(database)) {
            bench.streams("a", "b");
            QueuePolicy oneByOne = SequenceBench.TAKEN
                    .withBatch(1)
                    .withRetry(RetryPolicy.fixed(Duration.ofMillis(300)).withMaxAttempts(50));
            Sequence firstSeen = Sequence.by(Message::orderingKey, Sequence.header("version"));
            Consumer consumer = bench.queued(oneByOne, firstSeen);
            bench.failing.add("a-1");
            bench.inbox.acceptAll(consumer, messages("a", 1, 2, 3));
            bench.inbox.start(consumer);
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> bench.db.number("SELECT count(*) FROM idem_attempt") >= 1);
            bench.inbox.acceptAll(consumer, messages("a", 4));
            bench.inbox.acceptAll(consumer, messages("b", 1, 2));
            bench.awaitApplied("b", 2);
            assertThat(bench.applied("a")).isZero();
            bench.failing.clear();
            bench.awaitApplied("a", 4);
            bench.awaitRows("1 = 1", 0);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a skipped version cannot be retried, and one with a place in a stream cannot be edited")
    void operatorAndStreams(Database database) {
        try (SequenceBench bench = new SequenceBench(database)) {
            bench.streams("a");
            Consumer consumer = bench.queued(SequenceBench.TAKEN, SequenceBench.FROM_ONE);
            bench.failing.add("a-1");
            bench.inbox.acceptAll(consumer, messages("a", 1));
            bench.inbox.start(consumer);
            bench.awaitRows("status = 4", 1);
            long id = bench.db.number("SELECT id FROM idem_queue");
            InboxOperator anna = JdbcInbox.of(JdbcSchema.of(bench.db.plain())).as("anna", "it is wrong");
            InboxEdit edit = InboxEdit.nothing().payload("other".getBytes(StandardCharsets.UTF_8));
            assertThat(anna.edit(id, edit).result()).isEqualTo(InboxAnswer.Result.REFUSED);
            assertThat(anna.skip(id).result()).isEqualTo(InboxAnswer.Result.CHANGED);
            assertThat(anna.retry(id).result()).isEqualTo(InboxAnswer.Result.REFUSED);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-09 a batch publishes in the order of its messages, whatever else their handlers defer")
    void mixedHandlers(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            Consumer consumer = OutboxBench.orders()
                    .otherwise((message, tx) -> {
                        if (message.id().orElseThrow().equals("m1")) {
                            tx.defer("INSERT INTO payment (order_id) VALUES (?)", "m1");
                        }
                        tx.publish(
                                "shipments",
                                OutboxBench.shipment(message).toBuilder()
                                        .orderingKey("one")
                                        .build());
                        return null;
                    })
                    .build();
            bench.inbox.acceptAll(
                    consumer, List.of(Db.message("m0"), Db.message("m1"), Db.message("m2"), Db.message("m3")));
            bench.relay();
            bench.awaitEmpty();
            assertThat(bench.payloads()).containsExactlyElementsOf(List.of("m0", "m1", "m2", "m3"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-01 a message that the broker's client cannot even take is blamed alone")
    void poisonInARound(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            bench.failing = message -> {
                if (new String(message.payload(), StandardCharsets.UTF_8).equals("m1")) {
                    throw new IllegalArgumentException("a header is too long");
                }
                return null;
            };
            Consumer consumer = OutboxBench.orders()
                    .otherwise((message, tx) -> {
                        tx.publish("shipments", OutboxBench.shipment(message));
                        return null;
                    })
                    .build();
            bench.inbox.acceptAll(consumer, List.of(Db.message("m0"), Db.message("m1"), Db.message("m2")));
            bench.relay(QueuePolicy.inTransaction()
                    .withRetry(RetryPolicy.fixed(Duration.ofMillis(5)).withMaxAttempts(3)));
            await().atMost(OutboxBench.LONG)
                    .until(() -> bench.inbox.queueStats("outbox:shipments").parked() == 1 && bench.rows() == 1);
            assertThat(bench.payloads()).contains("m0", "m2");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 a session that does not rebuild cannot move the marks of its consumer")
    void marksAreNotMoved(Database database) {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer marks = ReplayBench.paying(Replay.UNDONE_ONLY).watermark().build();
            bench.registered(marks);
            bench.replayer(marks);
            bench.anna().start("one", "payments", ReplayBench.GIVEN);
            ReplaySession session = bench.awaited("one", ReplaySession.State.FAILED);
            assertThat(session.error().orElseThrow()).contains("keeps marks");
        }
    }

    @Test
    @DisplayName("PC-10 what a handler has committed behind our back is not parked, where it would be taken for done")
    void hiddenCommitIsNotParked() {
        DeliveryDecider triage = new DeliveryDecider(
                Consumer.named("payments")
                        .parking(QueuePolicy.inTransaction())
                        .otherwise((message, tx) -> null)
                        .build(),
                RetryPolicy.fixed(Duration.ofSeconds(1)));
        assertThat(parkable(triage, new BrokenTransactionException("half", true, null)))
                .isFalse();
        assertThat(parkable(triage, new BrokenTransactionException("undone", false, null)))
                .isTrue();
    }

    private static boolean parkable(DeliveryDecider triage, Throwable cause) {
        DeliveryDecider.Decision decision = triage.decide(new Outcome.Failed<>(Failure.TERMINAL, cause), 0);
        return ((DeliveryDecider.Decision.SetAside) decision).parkable();
    }
}
