package dev.idem.jdbc;

import static dev.idem.jdbc.SequenceBench.FROM_ONE;
import static dev.idem.jdbc.SequenceBench.LEASED;
import static dev.idem.jdbc.SequenceBench.TAKEN;
import static dev.idem.jdbc.SequenceBench.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Sequence;
import dev.idem.spi.QueueStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A held message whose row somebody has locked in the moment its turn comes: a worker that looked for what is due just when the
 * message was held, or a person. It must not wait for the deadline of a gap that is closed.
 */
class SequenceLockedTest {
    private static final String HELD = "status = 3";
    private static final Sequence PATIENT = FROM_ONE.gapDeadline(Duration.ofHours(1));

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-09 what could not be released because its row was locked goes on when the row is free")
    void lockedRow(Database database) throws Exception {
        for (QueuePolicy policy : List.of(TAKEN, LEASED)) {
            try (SequenceBench bench = new SequenceBench(database);
                    Connection other = bench.db.plain().getConnection()) {
                bench.streams("a");
                Consumer consumer = bench.queued(policy, PATIENT);
                bench.inbox.start(consumer);
                bench.inbox.accept(consumer, message("a", 2));
                bench.awaitRows(HELD, 1);
                lock(other, bench.db.number("SELECT id FROM idem_queue WHERE version = 2"));
                bench.inbox.accept(consumer, message("a", 1));
                bench.awaitApplied("a", 1);
                bench.awaitRows("version = 1", 0);
                assertThat(bench.rows(HELD)).as("nobody waits for the lock").isEqualTo(1);
                other.rollback();
                bench.awaitApplied("a", 2);
                bench.awaitRows("1 = 1", 0);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-09 a row that was locked goes on also when the process that moved its stream has ended")
    void theProcessHasEnded(Database database) throws Exception {
        try (SequenceBench bench = new SequenceBench(database)) {
            bench.streams("a");
            Consumer consumer = bench.queued(TAKEN, PATIENT);
            bench.inbox.start(consumer);
            bench.inbox.accept(consumer, message("a", 2));
            bench.awaitRows(HELD, 1);
            bench.db.execute("UPDATE chain SET version = 1", "UPDATE idem_sequence SET current_version = 1");
            bench.awaitApplied("a", 2);
            bench.awaitRows("1 = 1", 0);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a look releases what its stream has come to, however many wait, and nothing else")
    void manyStreams(Database database) throws Exception {
        int streams = 1_200;
        try (SequenceBench bench = new SequenceBench(database)) {
            Consumer consumer = bench.queued(TAKEN, PATIENT);
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < streams; i++) {
                messages.add(message("s" + i, 2));
            }
            messages.add(message("s0", 3));
            bench.inbox.acceptAll(consumer, messages);
            bench.db.execute(
                    "UPDATE idem_queue SET status = 3, due_at = stored_at + 3600000000",
                    "UPDATE idem_sequence SET current_version = 1");
            QueueStore queue = ((JdbcStore) bench.inbox.store()).queue();
            try (Connection other = bench.db.plain().getConnection()) {
                lock(other, bench.db.number("SELECT max(id) FROM idem_queue WHERE version = 2"));
                queue.recover("chain");
                assertThat(bench.rows(HELD))
                        .as("one is locked, and one is ahead")
                        .isEqualTo(2);
                other.rollback();
            }
            queue.recover("chain");
            assertThat(bench.rows(HELD)).isEqualTo(1);
            assertThat(bench.rows("version = 3 AND status = 3")).isEqualTo(1);
        }
    }

    private static void lock(Connection connection, long id) throws Exception {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT id FROM idem_queue WHERE id = " + id + " FOR UPDATE")) {
            assertThat(row.next()).isTrue();
        }
    }
}
