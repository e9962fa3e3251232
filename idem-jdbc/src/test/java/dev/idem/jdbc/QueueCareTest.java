package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.QueueStore;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a look after the queue does, also when a part of it cannot be done. */
class QueueCareTest {
    private static final Duration SOON = Duration.ofSeconds(40);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("care that fails for one consumer is a warning; its other parts, and the care of others, go on")
    void eachPartOfTheCareIsAlone(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(8));
                CapturedLog log = CapturedLog.of(Inbox.class)) {
            for (String name : List.of("a", "b")) {
                inbox.acceptAll(consumer(name), List.of(keyed(name + "1"), keyed(name + "2")));
            }
            db.execute(
                    "INSERT INTO idem_archive (id, stored_at, completed_at, keep_until, message_key, consumer, readable,"
                            + " head, payload) SELECT id, stored_at, 1, 1, message_key, consumer, readable, head, payload"
                            + " FROM idem_queue WHERE readable = 'a1'");
            db.execute("CREATE TABLE wants_it (id BIGINT NOT NULL, FOREIGN KEY (id) REFERENCES idem_archive (id))");
            db.execute("INSERT INTO wants_it SELECT id FROM idem_archive");
            db.execute("DELETE FROM idem_queue WHERE readable IN ('a1', 'b1')"); // the others are held behind nobody
            inbox.start(consumer("a"));
            inbox.start(consumer("b"));
            await().atMost(SOON).until(() -> db.payments("b2") == 1);
            await().atMost(SOON).until(() -> db.payments("a2") == 1);
            await().atMost(SOON)
                    .until(() ->
                            log.warnings().stream().anyMatch(line -> line.startsWith("a: its queue could not be")));
            assertThat(log.warnings()).noneMatch(line -> line.startsWith("b: its queue could not be"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("an expired copy that somebody has locked is left, and keeps the care of nobody waiting")
    void nobodyIsWaitedFor(Database database) throws Exception {
        try (InboxBench bench = new InboxBench(database);
                Connection other = bench.db.plain().getConnection()) {
            List<Long> ids = bench.store(InboxBench.PLAIN, "a1", "b1", "c1");
            bench.db.execute(
                    "INSERT INTO idem_archive (id, stored_at, completed_at, keep_until, message_key, consumer, readable,"
                            + " head, payload) SELECT id, stored_at, 1, 1, message_key, consumer, readable, head, payload"
                            + " FROM idem_queue");
            other.setAutoCommit(false);
            try (Statement statement = other.createStatement()) {
                statement.executeUpdate("UPDATE idem_archive SET payload = '' WHERE id = " + ids.get(1));
                QueueStore queue = ((JdbcStore) bench.inbox.store()).queue();
                assertTimeoutPreemptively(SOON, () -> queue.recover("payments"));
                assertThat(bench.db.number("SELECT count(*) FROM idem_archive WHERE readable <> 'b1'"))
                        .isZero();
                other.rollback();
                queue.recover("payments");
                assertThat(bench.db.number("SELECT count(*) FROM idem_archive")).isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("failed messages that are due again join those that are due now, however many they are")
    void manyRetriesJoin(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 2_500; i++) {
                messages.add(Db.message("m" + i));
            }
            bench.inbox.acceptAll(InboxBench.consumer(InboxBench.PLAIN), messages);
            bench.db.execute("UPDATE idem_queue SET status = 2, failed = 1, due_at = 1000 + id");
            QueueStore queue = ((JdbcStore) bench.inbox.store()).queue();
            queue.recover("payments");
            assertThat(joined(bench))
                    .as("in one look, as many as a second allows")
                    .isGreaterThan(1_000);
            for (int i = 0; i < 10 && joined(bench) < 2_500; i++) {
                queue.recover("payments");
            }
            assertThat(joined(bench)).isEqualTo(2_500);
        }
    }

    private static long joined(InboxBench bench) {
        return bench.db.number("SELECT count(*) FROM idem_queue WHERE due_at = " + QueueSql.DUE_NOW);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a completed message is kept although a failover has lost the registration of its consumer")
    void keptWithoutARegistration(Database database) {
        Consumer consumer = Consumer.named("payments")
                .queued(QueuePolicy.inTransaction().withPayloadWindow(Duration.ofDays(1)))
                .otherwise((message, tx) -> {
                    try (var statement = tx.connection().createStatement()) {
                        statement.executeUpdate("DELETE FROM idem_consumer");
                    }
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(8))) {
            inbox.accept(consumer, Db.message("m1"));
            inbox.start(consumer);
            await().atMost(SOON).until(() -> db.payments("m1") == 1);
            assertThat(db.number("SELECT count(*) FROM idem_archive WHERE readable = 'm1'"))
                    .isEqualTo(1);
        }
    }

    private static Consumer consumer(String name) {
        return Consumer.named(name)
                .queued(InboxBench.ORDERED.withPoll(Duration.ofMillis(100)))
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
    }

    private static Message keyed(String id) {
        return Db.message(id).toBuilder().orderingKey("key").build();
    }
}
