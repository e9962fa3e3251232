package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueueState;
import dev.idem.queue.QueueStats;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The age of the oldest message that waits, which is the alarm of an outage. */
class OldestPendingTest {
    private static void store(InboxBench bench, long id, int hoursAgo) {
        bench.db.execute(
                "UPDATE idem_queue SET stored_at = stored_at - " + hoursAgo * 3_600_000_000L + " WHERE id = " + id);
    }

    private static QueueStats stats(InboxBench bench) {
        return bench.operator.stats().get(0);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LV-18 a message counts from its receipt, also while it waits for its next attempt or was given back")
    void inBackoff(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            List<Long> ids = bench.store(InboxBench.PLAIN, "a1", "b1", "c1", "d1", "e1");
            assertThat(stats(bench).oldestPending().orElseThrow()).isLessThan(Duration.ofHours(1));
            store(bench, ids.get(0), 1);
            assertHours(bench, 1); // due at once
            bench.put(ids.get(2), QueueState.RECEIVED, false);
            store(bench, ids.get(2), 2);
            assertHours(bench, 2); // given back, for later
            bench.put(ids.get(3), QueueState.FAILED_RETRYABLE, false);
            store(bench, ids.get(3), 3);
            assertHours(bench, 3); // in backoff
            bench.put(ids.get(4), QueueState.FAILED_RETRYABLE, true);
            store(bench, ids.get(4), 4);
            assertHours(bench, 4); // failed, and due
            assertThat(stats(bench).pending()).isEqualTo(5);
        }
    }

    private static void assertHours(InboxBench bench, int hours) {
        assertThat(stats(bench).oldestPending().orElseThrow())
                .isBetween(Duration.ofHours(hours), Duration.ofHours(hours).plusMinutes(10));
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("pending and its age are of the same messages: held, running and parked ones are in neither")
    void theSameSet(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            List<Long> ids = bench.store(InboxBench.ORDERED, "a1", "a2", "b1", "c1", "d1", "e1");
            store(bench, ids.get(1), 9); // held behind a1
            bench.put(ids.get(2), QueueState.PARKED, false);
            store(bench, ids.get(2), 9);
            bench.put(ids.get(3), QueueState.IN_PROGRESS, false);
            store(bench, ids.get(3), 9);
            bench.put(ids.get(4), QueueState.FAILED_TERMINAL, false);
            store(bench, ids.get(4), 9);
            bench.put(ids.get(5), QueueState.FAILED_RETRYABLE, false);
            QueueStats stats = stats(bench);
            assertThat(List.of(stats.pending(), stats.retryable(), stats.held(), stats.inProgress(), stats.parked()))
                    .containsExactly(2L, 1L, 1L, 1L, 1L);
            assertThat(stats.oldestPending().orElseThrow()).isLessThan(Duration.ofHours(1));

            bench.db.execute("DELETE FROM idem_queue WHERE status IN (0, 2)");
            assertThat(stats(bench).pending()).isZero();
            assertThat(stats(bench).oldestPending()).isEmpty();
        }
    }

    @Test
    @DisplayName(
            "LV-18 the age is exact and cheap in a deep queue of which nearly all has failed: no scan of the table")
    void deep() throws Exception {
        try (InboxBench bench = new InboxBench(Database.POSTGRESQL)) {
            long first = bench.store(InboxBench.PLAIN, "a1").get(0);
            // The oldest is due last, behind more than are looked at.
            bench.db.execute("""
                    INSERT INTO idem_queue (consumer, message_key, stored_at, due_at, status, head, payload)
                    SELECT q.consumer, gen_random_uuid(), q.stored_at - 3600000000 * CASE WHEN i = 1 THEN 7 ELSE 1 END,
                      q.stored_at + 600000000 - i, 2, '', '' FROM idem_queue q, generate_series(1, 100000) i
                    """, "DELETE FROM idem_queue WHERE id = " + first, "ANALYZE idem_queue");
            QueueStats stats = stats(bench);
            assertThat(stats.oldestPending().orElseThrow())
                    .isBetween(Duration.ofHours(7), Duration.ofHours(7).plusMinutes(10));
            assertThat(stats.atLeast()).isTrue();
            assertThat(plan(bench)).contains("Index").doesNotContain("Seq Scan on idem_queue");
        }
    }

    private static String plan(InboxBench bench) throws Exception {
        try (Connection connection = bench.db.plain().getConnection()) {
            Tables tables = bench.db.tables();
            NamedSql sql = new NamedSql(
                    tables.fill("EXPLAIN " + QueueSql.of(Database.POSTGRESQL).oldest()));
            Map<String, NamedSql.Parameter> values = Map.of(
                    "consumer", NamedSql.Parameter.of((int) bench.db.number("SELECT min(consumer) FROM idem_queue")),
                    "limit", NamedSql.Parameter.of(10_000L));
            StringBuilder plan = new StringBuilder();
            try (var statement = sql.prepare(connection, values);
                    var rows = statement.executeQuery()) {
                while (rows.next()) {
                    plan.append(rows.getString(1)).append('\n');
                }
            }
            return plan.toString();
        }
    }
}
