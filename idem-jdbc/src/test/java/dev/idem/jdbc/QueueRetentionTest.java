package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Outcome;
import dev.idem.QueueState;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a sweep leaves of stored messages. */
class QueueRetentionTest {
    private static final Duration OLD = History.WINDOW.plusHours(1);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-06 a sweep leaves the marker of a message that waits, in whatever state; what was given up goes whole")
    void onlyWhatIsFinalGoes(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            Consumer consumer = InboxBench.consumer(InboxBench.PLAIN);
            for (QueueState state : EnumSet.complementOf(EnumSet.of(QueueState.COMPLETED))) {
                long id = bench.store(InboxBench.PLAIN, "m-" + state).get(0);
                bench.put(id, state, true);
                attempt(bench, id);
            }
            bench.store(InboxBench.PLAIN, "m-COMPLETED");
            long done = bench.operator.find("payments", "m-COMPLETED").orElseThrow();
            attempt(bench, done);
            bench.db.execute("DELETE FROM idem_queue WHERE id = " + done);
            long young = bench.store(InboxBench.PLAIN, "m-young").get(0);
            age(bench, "<> 'm-young'");
            bench.put(young, QueueState.FAILED_TERMINAL, true);
            attempt(bench, young);
            bench.db.execute("UPDATE idem_attempt SET failed_at = 1");

            JdbcRetention retention = JdbcRetention.of(JdbcSchema.of(bench.db.plain()));
            assertThat(retention
                            .dryRun(List.of(), progress -> {})
                            .consumers()
                            .get(0)
                            .markers())
                    .isEqualTo(2);
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(8);
            assertThat(retention
                            .run(List.of(), progress -> {})
                            .consumers()
                            .get(0)
                            .markers())
                    .isEqualTo(2);

            for (QueueState state : QueueState.values()) {
                boolean kept = !state.isFinal();
                assertThat(bench.db.number("SELECT count(*) FROM idem_marker WHERE readable = 'm-" + state + "'"))
                        .as("marker of %s", state)
                        .isEqualTo(kept ? 1 : 0);
                assertThat(bench.operator.find("payments", "m-" + state).isPresent())
                        .as("message that is %s", state)
                        .isEqualTo(kept);
                if (kept) {
                    assertThat(bench.inbox.accept(consumer, Db.message("m-" + state)))
                            .as("redelivery of %s", state)
                            .isInstanceOf(Outcome.Duplicate.class);
                }
            }
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(6);
            assertThat(bench.state(young)).isEqualTo(QueueState.FAILED_TERMINAL);
        }
    }

    private static void attempt(InboxBench bench, long id) {
        bench.db.execute(
                "INSERT INTO idem_attempt (queue_id, failed_at, took, consumer, worker, reason, error_type, error)"
                        + " SELECT id, 1, 1, consumer, 'w', 'RETRY', 'T', head FROM idem_queue WHERE id = " + id);
    }

    private static void age(InboxBench bench, String which) {
        String ago = switch (bench.db.kind()) {
            case POSTGRESQL -> "clock_timestamp() - interval '" + OLD.toSeconds() + " s'";
            case MARIADB -> "NOW(6) - INTERVAL " + OLD.toSeconds() + " SECOND";
            case H2 -> "DATEADD(SECOND, -" + OLD.toSeconds() + ", CURRENT_TIMESTAMP)";
        };
        bench.db.execute("UPDATE idem_marker SET processed_at = " + ago + " WHERE readable " + which);
        bench.db.execute(
                "UPDATE idem_queue SET stored_at = stored_at - " + Micros.of(OLD) + " WHERE readable " + which);
    }
}
