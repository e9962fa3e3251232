package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.Policy.Replay;
import dev.idem.TerminalException;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxEdit;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySession.State;
import dev.idem.replay.ReplaySpec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Replays of messages that a person has edited, of consumers whose keys stand in what was edited. */
class ReplayEditedTest {
    private final Queue<String> calls = new ConcurrentLinkedQueue<>();
    private final Queue<String> handled = new ConcurrentLinkedQueue<>();

    private Consumer orders(KeySelector key, Replay replay) {
        return Consumer.named("orders")
                .key(key)
                .policy(Policy.defaults().withReplay(replay))
                .queued(QueuePolicy.leased(Duration.ofMinutes(1)).withPayloadWindow(Duration.ofDays(1)))
                .otherwiseSteps((order, steps) -> {
                    String payload = new String(order.payload(), StandardCharsets.UTF_8);
                    steps.effect("charge", effect -> calls.add(effect.value()));
                    if (payload.equals("broken")) {
                        throw new TerminalException("it is broken", null);
                    }
                    handled.add(payload);
                })
                .build();
    }

    private static Message order(String number, String payload) {
        return Message.builder()
                .id("m" + number)
                .header("order", number)
                .payload(payload.getBytes(StandardCharsets.UTF_8))
                .build();
    }

    private static void awaitRows(ReplayBench bench, int waiting, int parked) {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> bench.db.number("SELECT count(*) FROM idem_queue WHERE status < 4") == waiting
                        && bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 4") == parked);
    }

    /** The first of two messages is edited so that it has the key of the second. */
    private void edit(ReplayBench bench) {
        long id = bench.db.number("SELECT id FROM idem_queue WHERE status = 4");
        InboxOperator anna = JdbcInbox.of(JdbcSchema.of(bench.db.plain())).as("anna", "it was broken");
        assertThat(anna.edit(
                                id,
                                InboxEdit.nothing()
                                        .header("order", "2")
                                        .payload("mended".getBytes(StandardCharsets.UTF_8)))
                        .result())
                .isEqualTo(InboxAnswer.Result.CHANGED);
        assertThat(anna.retry(id).result()).isEqualTo(InboxAnswer.Result.CHANGED);
        awaitRows(bench, 0, 0);
    }

    private static final List<KeySelector> KEYS = List.of(
            KeySelector.messageId(),
            KeySelector.header("order"),
            KeySelector.business(m -> List.of(new String(m.payload(), StandardCharsets.UTF_8))));

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-04 a stored message that was edited is known by the key it was marked with: what is done stays done")
    void undone(Database database) {
        for (KeySelector key : KEYS) {
            handled.clear();
            calls.clear();
            try (ReplayBench bench = new ReplayBench(database)) {
                Consumer orders = orders(key, Replay.UNDONE_ONLY);
                bench.inbox.acceptAll(orders, List.of(order("1", "broken"), order("2", "whole")));
                bench.inbox.start(orders);
                awaitRows(bench, 0, 1);
                edit(bench);
                bench.replayer(orders);
                bench.anna().dryRun().start("count", "orders", ReplaySpec.of("stored"));
                assertThat(bench.awaited("count", State.DONE).counts())
                        .isEqualTo(new ReplaySession.Counts(2, 0, 2, 0, 0, 0, 0));
                bench.anna().start("again", "orders", ReplaySpec.of("stored"));
                assertThat(bench.awaited("again", State.DONE).counts())
                        .isEqualTo(new ReplaySession.Counts(2, 0, 2, 0, 0, 0, 0));
                awaitRows(bench, 0, 0);
                assertThat(handled).containsExactlyInAnyOrder("whole", "mended");
                assertThat(calls).hasSize(2);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-03 RP-04 a session that rebuilds runs an edited message apart from others, and repeats no effect of it")
    void rebuilt(Database database) {
        for (KeySelector key : KEYS) {
            handled.clear();
            calls.clear();
            try (ReplayBench bench = new ReplayBench(database)) {
                Consumer orders = orders(key, Replay.ALLOWED);
                bench.inbox.acceptAll(orders, List.of(order("1", "broken"), order("2", "whole")));
                bench.inbox.start(orders);
                awaitRows(bench, 0, 1);
                edit(bench);
                bench.replayer(orders);
                bench.anna().start("again", "orders", ReplaySpec.of("stored"));
                assertThat(bench.awaited("again", State.DONE).counts())
                        .isEqualTo(new ReplaySession.Counts(2, 2, 0, 0, 0, 0, 0));
                awaitRows(bench, 0, 0);
                assertThat(handled).containsExactlyInAnyOrder("whole", "mended", "whole", "mended");
                assertThat(calls).as("the ledger has both").hasSize(2);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 a copy of a session that is parked, edited and retried runs, and its effect has the key it had")
    void editedInTheSession(Database database) {
        for (KeySelector key : KEYS) {
            for (Replay replay : List.of(Replay.ALLOWED, Replay.UNDONE_ONLY)) {
                handled.clear();
                calls.clear();
                try (ReplayBench bench = new ReplayBench(database)) {
                    Consumer orders = orders(key, replay);
                    bench.given.addAll(List.of(order("1", "broken"), order("2", "whole")));
                    bench.inbox.start(orders);
                    bench.replayer(orders);
                    bench.anna().start("catch-up", "orders", ReplayBench.GIVEN);
                    bench.awaited("catch-up", State.DONE);
                    awaitRows(bench, 0, 1);
                    edit(bench);
                    assertThat(handled).containsExactlyInAnyOrder("whole", "mended");
                    assertThat(calls).hasSize(2).doesNotHaveDuplicates();
                }
            }
        }
    }
}
