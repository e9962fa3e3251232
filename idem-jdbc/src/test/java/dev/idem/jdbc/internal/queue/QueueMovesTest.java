package dev.idem.jdbc.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.InboxBench;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.admin.InboxAction;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.admin.InboxMessage;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueueState;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The state machine of stored messages, exhaustively, as the databases see it. */
class QueueMovesTest {
    private static final QueueStore.Taking TAKING =
            new QueueStore.Taking("payments", 7, "worker", 100, true, Duration.ZERO, false);

    /** All states a row can have; what is completed has no row. */
    private static final Set<QueueState> ROWS = EnumSet.complementOf(EnumSet.of(QueueState.COMPLETED));

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-13 a message in any state is moved exactly where the move allows it, and only by who has its fence")
    void everyPair(Database database) throws Exception {
        try (InboxBench bench = new InboxBench(database);
                Connection connection = bench.db.plain().getConnection()) {
            QueueChanges changes = new QueueChanges(bench.db.tables());
            int number = (int) bench.db.number("SELECT number FROM idem_consumer");
            int pairs = 0;
            for (QueueState state : ROWS) {
                for (QueueMove move : QueueMove.values()) {
                    String id = "m-" + state + "-" + move;
                    long row = bench.store(InboxBench.PLAIN, id).get(0);
                    bench.put(row, state, false);
                    long fence = bench.fence(row);
                    for (long wrong : List.of(fence - 1, fence + 1)) {
                        assertThat(changes.make(connection, number, "worker", change(row, wrong, move)))
                                .as("%s of %s with a wrong fence", move, state)
                                .isFalse();
                        assertThat(bench.state(row)).isEqualTo(state);
                        assertThat(bench.fence(row)).isEqualTo(fence);
                    }
                    boolean made = changes.make(connection, number, "worker", change(row, fence, move));
                    assertThat(made)
                            .as("%s of %s", move, state)
                            .isEqualTo(move.from().contains(state));
                    if (made && move.to() == QueueState.COMPLETED) {
                        assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE id = " + row))
                                .isZero();
                    } else {
                        assertThat(bench.state(row)).as("%s of %s", move, state).isEqualTo(made ? move.to() : state);
                        assertThat(bench.fence(row)).isEqualTo(made ? fence + 1 : fence);
                    }
                    assertThat(changes.make(connection, number, "worker", change(row, fence, move)))
                            .as("%s of %s for the second time", move, state)
                            .isFalse();
                    pairs++;
                }
            }
            assertThat(pairs).isEqualTo(6 * QueueMove.values().length);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-04 RO-13 every row is given up, or a worker, a sweep or a count finds it, now or when it is due")
    void nothingIsLost(Database database) throws Exception {
        try (InboxBench bench = new InboxBench(database);
                JdbcStore store = bench.db.store()) {
            QueueStore queue = store.queue();
            for (QueueState state : ROWS) {
                for (boolean due : List.of(true, false)) {
                    String name = "a-" + state + due;
                    long row = bench.store(InboxBench.ORDERED, name).get(0);
                    bench.put(row, state, due);
                    assertThat(bench.inbox.accept(InboxBench.consumer(InboxBench.ORDERED), Db.message(name)))
                            .as("a redelivery is acknowledged in any state, so each must lead somewhere")
                            .isInstanceOf(Outcome.Duplicate.class);
                    boolean later = queue.nextDue("payments").isPresent();
                    boolean swept = queue.recover("payments") > 0;
                    boolean taken = queue.lease(TAKING, Duration.ofSeconds(1)).size() == 1;
                    boolean counted = queue.stats("payments").parked() == 1;
                    assertThat(state.isFinal() || taken || counted || later)
                            .as("%s: swept %s, taken %s, counted %s, later %s", state, swept, taken, counted, later)
                            .isTrue();
                    assertThat(swept).isEqualTo(state == QueueState.HELD);
                    assertThat(counted).isEqualTo(state == QueueState.PARKED);
                    assertThat(later && taken).as("%s before it is due", state).isFalse();
                    assertThat(bench.operator
                                    .list(InboxFilter.all(), JdbcInbox.Sorted.OLDEST_FIRST, 10, Optional.empty())
                                    .messages())
                            .extracting(InboxMessage::id)
                            .containsExactly(row);
                    bench.db.execute("DELETE FROM idem_queue");
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(InboxAction.class)
    @DisplayName("RO-13 what a person wants is decided for every state, and never beside the state machine")
    void everyWish(InboxAction action) throws Exception {
        try (InboxBench bench = new InboxBench(Database.H2)) {
            for (QueueState state : ROWS) {
                for (boolean stale : List.of(true, false)) {
                    long row = bench.store(InboxBench.PLAIN, "m-" + state + action + stale)
                            .get(0);
                    bench.put(row, state, stale);
                    InboxAnswer answer = bench.anna().act(action, row);
                    boolean changed = answer.result() == InboxAnswer.Result.CHANGED;
                    assertThat(bench.state(row)).isEqualTo(answer.to().orElseThrow());
                    assertThat(changed).isEqualTo(bench.fence(row) == 1);
                    if (state == QueueState.IN_PROGRESS && !stale) {
                        assertThat(answer.result()).isEqualTo(InboxAnswer.Result.BUSY);
                        assertThat(answer.detail()).contains("pid 7/payments-0");
                    }
                    assertThat(bench.anna().act(action, row).result())
                            .as("%s of %s again", action, state)
                            .isNotEqualTo(InboxAnswer.Result.CHANGED);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(QueueMove.class)
    @DisplayName(
            "RO-13 no move starts at its own end, but a lease that is taken over, a message given back, and one that is held on")
    void noMoveStandsStill(QueueMove move) {
        Set<QueueMove> again = Set.of(QueueMove.LEASE, QueueMove.GIVE_BACK, QueueMove.FAIL, QueueMove.HOLD);
        assertThat(move.from().contains(move.to())).isEqualTo(again.contains(move));
        assertThat(move.from().stream().filter(QueueState::isFinal).collect(Collectors.toSet()))
                .isSubsetOf(QueueState.FAILED_TERMINAL);
    }

    private static QueueChange change(long id, long fence, QueueMove move) {
        MarkerKey key = new MarkerKey("payments", new UUID(0, id), null);
        Message message = Message.of("m" + id, new byte[0]);
        return new QueueChange(
                new QueuedMessage(id, key, message, fence, 0, 0, Instant.EPOCH, Duration.ZERO, false, false, null),
                move,
                Duration.ZERO,
                "TEST",
                null);
    }
}
