package dev.idem.jdbc.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.StoreException;
import dev.idem.jdbc.CapturedLog;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.InboxBench;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.ReplayBench;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.internal.guard.PoolWaits;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Workers whose pool has fewer connections than they could use. */
class PoolSizeTest {
    private static final int MESSAGES = 60;
    private static final Duration LEASE = Duration.ofSeconds(20);

    @ParameterizedTest
    @CsvSource({"POSTGRESQL, true", "POSTGRESQL, false", "MARIADB, true", "MARIADB, false", "H2, true", "H2, false"})
    @DisplayName("four workers and two connections handle everything, for nobody waits for one while holding another")
    void twoConnectionsAreEnough(Database database, boolean leased) {
        Consumer consumer = InboxBench.consumer(four(leased));
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            inbox.acceptAll(consumer, messages(0));
            inbox.start(consumer);
            await().atMost(Duration.ofSeconds(25)).until(() -> db.payments() == MESSAGES);
            inbox.acceptAll(consumer, messages(MESSAGES));
            await().atMost(Duration.ofSeconds(25)).until(() -> db.payments() == 2 * MESSAGES);
        }
    }

    @ParameterizedTest
    @CsvSource({"POSTGRESQL, true", "POSTGRESQL, false", "MARIADB, true", "MARIADB, false", "H2, true", "H2, false"})
    @DisplayName("four workers and two connections handle the messages of replay sessions, too")
    void twoConnectionsAreEnoughForSessions(Database database, boolean leased) {
        Consumer consumer =
                ReplayBench.paying(Policy.Replay.ALLOWED).queued(four(leased)).build();
        try (Db db = Db.fresh(database);
                Inbox door = db.inbox(db.pool(4))) {
            door.register(consumer);
            JdbcReplays replays = JdbcReplays.of(JdbcSchema.of(db.plain()));
            for (String session : List.of("july", "august")) {
                replays.as("anna", "a test").start(session, "payments", ReplayBench.GIVEN);
                door.acceptAll(
                        consumer,
                        messages(0).stream()
                                .map(message -> ReplayBench.of(message, session))
                                .toList());
            }
            HikariDataSource pool = db.pool(2);
            pool.setConnectionTimeout(2_000);
            try (Inbox inbox = db.inbox(pool)) {
                inbox.start(consumer);
                await().atMost(Duration.ofSeconds(25)).until(() -> db.payments() == 2 * MESSAGES);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("with one connection workers do not start, and the error names the number needed")
    void oneConnectionIsRefused(Database database) {
        Consumer consumer = InboxBench.consumer(four(false));
        try (Db db = Db.fresh(database);
                HikariDataSource pool = db.pool(1)) {
            pool.setConnectionTimeout(1_000);
            try (Inbox inbox = db.inbox(pool)) {
                inbox.acceptAll(consumer, messages(0));
                assertThatThrownBy(() -> inbox.start(consumer))
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("at least 6");
                inbox.accept(consumer, Db.message("later")); // the connection was given back
                assertThat(db.number("SELECT count(*) FROM idem_queue")).isEqualTo(MESSAGES + 1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("workers start on a pool that says it has two connections, although somebody else has one of them")
    void busyPoolThatSaysItsSize(Database database) throws Exception {
        Consumer consumer = InboxBench.consumer(four(false));
        try (Db db = Db.fresh(database);
                HikariDataSource pool = db.pool(2)) {
            pool.setConnectionTimeout(1_000);
            try (Inbox inbox = db.inbox(pool)) {
                inbox.acceptAll(consumer, messages(0));
                try (Connection busy = pool.getConnection()) {
                    inbox.start(consumer);
                    assertThat(busy.isClosed()).isFalse();
                }
                await().atMost(Duration.ofSeconds(25)).until(() -> db.payments() == MESSAGES);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "a pool that does not say its size is not refused while others have its connections; a warning says so")
    void busyPool(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                HikariDataSource pool = db.pool(2);
                CapturedLog log = CapturedLog.of(JdbcStore.class);
                Trial trial = new Trial(database, pool)) {
            pool.setConnectionTimeout(250); // also where the pool has less patience than the trial
            try (Connection busy = pool.getConnection()) {
                trial.size.check("payments", 4);
                assertThat(log.warnings())
                        .filteredOn(line -> line.contains("pool")) // not what a store of another test says
                        .singleElement()
                        .asString()
                        .contains("no second connection", "at least 6");
                assertThat(busy.isClosed()).isFalse();
            }
            await().atMost(Duration.ofSeconds(25))
                    .until(() -> log.everything().stream().anyMatch(line -> line.contains("was busy")));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a pool of one that does not say so is refused, and its connection given back")
    void poolOfOne(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                HikariDataSource pool = db.pool(1);
                Trial trial = new Trial(database, pool)) {
            for (int i = 0; i < 2; i++) { // not only the first time
                assertThatThrownBy(() -> trial.size.check("payments", 4))
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("at least 6");
                try (Connection only = pool.getConnection()) {
                    assertThat(only.isValid(5)).isTrue();
                }
            }
        }
    }

    /** The question by itself, asked with less patience, of a pool whose type says nothing. */
    private static final class Trial implements AutoCloseable {
        private final PoolWaits waits = new PoolWaits();
        private final DataSource source;
        private final NoteConnection notes;
        private final PoolSize size;

        private Trial(Database database, DataSource pool) {
            source = new UnitDataSource(() -> waits.take(pool::getConnection));
            notes = new NoteConnection(source);
            size = new PoolSize(
                    new UnitDataSource(pool::getConnection), source, waits, notes, database, Duration.ofSeconds(1));
        }

        @Override
        public void close() {
            size.close();
            notes.close();
        }
    }

    private static QueuePolicy four(boolean leased) {
        QueuePolicy policy = leased ? QueuePolicy.leased(LEASE) : QueuePolicy.inTransaction();
        return policy.withWorkers(4).withBatch(5).withPoll(Duration.ofMillis(100));
    }

    private static List<Message> messages(int from) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            messages.add(Db.message("m" + (from + i)));
        }
        return messages;
    }
}
