package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Outcome.Duplicate.State;
import dev.idem.Position;
import dev.idem.TerminalException;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueState;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a duplicate says of the message that it repeats. */
class DuplicateStateTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    private static List<State> states(List<Outcome<?>> outcomes) {
        return outcomes.stream()
                .map(outcome -> ((Outcome.Duplicate<?>) outcome).state())
                .toList();
    }

    private static State state(Outcome<?> outcome) {
        return ((Outcome.Duplicate<?>) outcome).state();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("of a queued message it says whether it is stored, parked or done, and is counted on the marker")
    void queued(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            Consumer consumer = InboxBench.consumer(InboxBench.PLAIN);
            List<Long> ids = bench.store(InboxBench.PLAIN, "a", "b", "c", "d", "e");
            bench.put(ids.get(1), QueueState.PARKED, false);
            bench.put(ids.get(2), QueueState.FAILED_RETRYABLE, false);
            bench.put(ids.get(3), QueueState.FAILED_TERMINAL, false);
            bench.db.execute("DELETE FROM idem_queue WHERE id = " + ids.get(4)); // as when it is completed
            List<Message> again = List.of(
                    Db.message("a"),
                    Db.message("b"),
                    Db.message("c"),
                    Db.message("d"),
                    Db.message("e"),
                    Db.message("a"));
            assertThat(states(bench.inbox.acceptAll(consumer, again)))
                    .containsExactly(State.STORED, State.PARKED, State.STORED, State.PARKED, State.DONE, State.STORED);
            assertThat(bench.db.number("SELECT count(*) FROM idem_marker WHERE duplicates >= 1"))
                    .isEqualTo(5);
            assertThat(bench.inbox.acceptAll(consumer, List.of(Db.message("new"), Db.message("new"))))
                    .satisfiesExactly(
                            first -> assertThat(first).isInstanceOf(Outcome.Stored.class),
                            second -> assertThat(state(second)).isEqualTo(State.STORED));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "of a message that the inbox keeps because its handler failed it does not say that the effect is there")
    void parked(Database database) {
        AtomicBoolean failing = new AtomicBoolean(true);
        Consumer consumer = Consumer.named("payments")
                .parking(QueuePolicy.inTransaction())
                .otherwise((message, tx) -> {
                    if (failing.get()) {
                        throw new TerminalException("never", null);
                    }
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            Message message = Db.message("a");
            Outcome.Failed<?> failed = (Outcome.Failed<?>) inbox.accept(consumer, message);
            assertThat(failed.kind()).isEqualTo(Failure.TERMINAL);
            assertThat(inbox.park(consumer, message, "TERMINAL", failed.cause()))
                    .isInstanceOf(Outcome.Stored.class);
            assertThat(state(inbox.accept(consumer, message))).isEqualTo(State.PARKED);
            assertThat(states(inbox.acceptAll(consumer, List.of(message, message))))
                    .containsOnly(State.PARKED);

            failing.set(false);
            inbox.start(consumer);
            JdbcInbox operator = JdbcInbox.of(JdbcSchema.of(db.plain()));
            operator.as("anna", "mended").retry(operator.find("payments", "a").orElseThrow());
            await().atMost(SOON).until(() -> db.payments() == 1);
            await().atMost(SOON).until(() -> state(inbox.accept(consumer, message)) == State.DONE);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("inline it says done; a mark, and a transaction of somebody else, say no more than that it was here")
    void noMoreThanIsKnown(Database database) throws Exception {
        Consumer inline = Consumer.named("inline")
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
        Consumer marks = Consumer.named("marks")
                .watermark()
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
        Consumer parking = Consumer.named("parking")
                .parking(QueuePolicy.inTransaction())
                .otherwise((message, tx) -> null)
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            Message message = Db.message("a").toBuilder()
                    .position(new Position("t", 0, 0))
                    .build();
            inbox.accept(inline, message);
            inbox.accept(marks, message);
            inbox.park(parking, message, "TERMINAL", null);
            assertThat(state(inbox.accept(inline, message))).isEqualTo(State.DONE);
            assertThat(state(inbox.accept(marks, message))).isEqualTo(State.SEEN);
            try (Connection outer = db.plain().getConnection()) {
                outer.setAutoCommit(false);
                assertThat(state(inbox.within(outer).accept(parking, message).outcome()))
                        .isEqualTo(State.SEEN);
                outer.rollback();
            }
        }
    }
}
