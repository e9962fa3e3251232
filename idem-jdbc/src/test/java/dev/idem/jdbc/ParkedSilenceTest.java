package dev.idem.jdbc;

import static dev.idem.jdbc.SequenceBench.FROM_ONE;
import static dev.idem.jdbc.SequenceBench.TAKEN;
import static dev.idem.jdbc.SequenceBench.messages;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.GapResolver;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is parked without a failure of its own is in the log as well: see {@link SilenceTest} for the others. */
class ParkedSilenceTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String REST = "what is held behind it in its ordering key is parked with it (BEHIND)";

    private static List<String> parked(CapturedLog log) {
        return log.warnings().stream()
                .filter(line -> line.contains(" is parked ("))
                .toList();
    }

    private static void awaitParked(CapturedLog log, int lines) {
        await().atMost(SOON).until(() -> parked(log).size() >= lines);
        assertThat(parked(log)).hasSize(lines);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "LV-17 a stream that is given up at a gap is told, and what comes late to it, without the stream's name")
    void gap(Database database) {
        try (SequenceBench bench = new SequenceBench(database);
                CapturedLog log = CapturedLog.of(Inbox.class)) {
            bench.streams("jump");
            Consumer consumer = bench.queued(
                    TAKEN, FROM_ONE.gapDeadline(Duration.ofMillis(150)).onGap(GapResolver.parkKey()));
            bench.inbox.start(consumer);
            bench.inbox.acceptAll(consumer, messages("jump", 1, 3));
            bench.awaitRows("status = 4 AND reason = 'GAP'", 1);
            awaitParked(log, 1);
            bench.inbox.acceptAll(consumer, messages("jump", 5));
            bench.awaitRows("status = 4 AND reason = 'BEHIND'", 1);
            awaitParked(log, 2);
            assertThat(parked(log))
                    .satisfiesExactly(
                            line -> assertThat(line)
                                    .startsWith("chain: message jump-3 is parked (GAP): version 2 of its stream has not"
                                            + " come within PT0.15S, and 1 message waited for it")
                                    .contains("idem inbox pass")
                                    .hasLineCount(1),
                            line -> assertThat(line)
                                    .startsWith("chain: message jump-5 is parked (BEHIND): version 2 of its stream"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "LV-17 a head that takes the rest of its ordering key along says so, and one that does not is silent on it")
    void behind(Database database) {
        for (QueuePolicy.WhenParked way : QueuePolicy.WhenParked.values()) {
            boolean parks = way == QueuePolicy.WhenParked.PARK;
            try (InboxBench bench = new InboxBench(database);
                    CapturedLog log = CapturedLog.of(Inbox.class)) {
                QueuePolicy policy = InboxBench.ORDERED.withWhenParked(way);
                bench.store(policy, "a1", "a2", "a3");
                bench.inbox.start(Consumer.named("payments")
                        .queued(policy)
                        .otherwise((message, tx) -> {
                            throw new TerminalException("not this one", null);
                        })
                        .build());
                awaitParked(log, 1);
                assertThat(parked(log).get(0))
                        .startsWith("payments: message a1 is parked (TERMINAL) after 1 failed run: "
                                + (parks ? REST + ": " : "") + TerminalException.class.getName());
                await().atMost(SOON)
                        .until(() ->
                                bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 4") == (parks ? 3 : 1));
                assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE reason = 'BEHIND'"))
                        .isEqualTo(parks ? 2 : 0);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("LV-17 a message that has ended its processes is told when it is parked unseen")
    void crashed(boolean leased) {
        QueuePolicy policy = (leased ? QueuePolicy.leased(Duration.ofSeconds(30)) : QueuePolicy.inTransaction())
                .withOrderByKey()
                .withWhenParked(QueuePolicy.WhenParked.PARK)
                .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2));
        try (InboxBench bench = new InboxBench(Database.POSTGRESQL);
                CapturedLog log = CapturedLog.of(Inbox.class)) {
            long deadly = bench.store(policy, "a1", "a2").get(0);
            bench.db.execute("UPDATE idem_queue SET started = 9, failed = 1 WHERE id = " + deadly);
            bench.inbox.start(InboxBench.consumer(policy));
            awaitParked(log, 1);
            assertThat(parked(log).get(0))
                    .startsWith("payments: message a1 is parked (CRASHED) after 1 failed run: it was started ")
                    .contains(
                            " times, and 1 of these runs came to an end: the others ended with their process; " + REST)
                    .hasLineCount(1);
            assertThat(bench.db.payments()).isZero();
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 4"))
                    .isEqualTo(2);
        }
    }
}
