package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.Rejection;
import dev.idem.RetryPolicy;
import dev.idem.Settlement;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueStore.Taking;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Corners of the queue in which workers once got stuck, or judged wrongly. */
class QueueEdgeTest {
    private static final Duration SOON = Duration.ofSeconds(40);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-01 a batch of which nothing can be handled is parked, and its worker goes on")
    void nothingCanBeHandled(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            QueuePolicy policy = QueuePolicy.inTransaction().withWorkers(1);
            inbox.acceptAll(anything(policy, (message, tx) -> null), List.of(typed("m1", "old"), typed("m2", "old")));
            inbox.accept(anything(policy, (message, tx) -> null), typed("m3", "paid"));
            db.execute("UPDATE idem_queue SET due_at = stored_at + 1000000 WHERE message_type = 'paid'");
            inbox.start(Consumer.named("payments")
                    .queued(policy)
                    .on("paid", PayloadDecoder.message(), QueueEdgeTest::pay)
                    .build());
            await().atMost(SOON).until(() -> db.payments() == 1);
            assertThat(db.number("SELECT count(*) FROM idem_queue WHERE status = 4 AND reason = 'UNKNOWN_TYPE'"))
                    .isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-07 a message that cannot be read is parked, and what is behind it in its key waits")
    void unreadable(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            Consumer consumer = anything(QueuePolicy.inTransaction().withOrderByKey(), QueueEdgeTest::pay);
            inbox.acceptAll(consumer, List.of(keyed("m1"), keyed("m2"), keyed("m3")));
            String bytes = database == Database.POSTGRESQL ? "'\\x63'" : "X'63'";
            db.execute("UPDATE idem_queue SET head = " + bytes
                    + " WHERE id = (SELECT id FROM (SELECT min(id) + 1 AS id FROM idem_queue) q)");
            inbox.start(consumer);
            await().atMost(SOON).until(() -> inbox.queueStats("payments").parked() == 1);
            await().pollDelay(Duration.ofMillis(500)).atMost(SOON).until(() -> db.payments() == 1);
            assertThat(db.payments("m1")).isEqualTo(1);
            assertThat(inbox.queueStats("payments").held()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Database.class, names = "H2")
    @DisplayName("a message of many empty headers is not small: what they cost counts against the largest size")
    void emptyHeaders(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            Consumer consumer = anything(QueuePolicy.inTransaction(), QueueEdgeTest::pay);
            Message.Builder flood = Message.builder().id("flood").type("paid");
            IntStream.range(0, 100_000).forEach(i -> flood.header("h", ""));
            assertThat(inbox.accept(consumer, flood.build()))
                    .isInstanceOfSatisfying(
                            Outcome.Rejected.class,
                            rejected -> assertThat(rejected.reason()).isEqualTo(Rejection.TOO_LARGE));
            assertThat(inbox.accept(consumer, typed("m1", "paid"))).isInstanceOf(Outcome.Stored.class);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("HX-02 RO-06 a handler that exhausts the memory ends no worker, and its message is parked")
    void outOfMemory(boolean leased) {
        QueuePolicy policy = leased ? QueuePolicy.leased(Duration.ofMillis(300)) : QueuePolicy.inTransaction();
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(db.pool(6))) {
            Consumer consumer = anything(
                    policy.withWorkers(1)
                            .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(1)),
                    (message, tx) -> {
                        if (message.id().orElseThrow().equals("m2")) {
                            throw new OutOfMemoryError("on purpose");
                        }
                        return pay(message, tx);
                    });
            inbox.accept(consumer, Db.message("m2"));
            inbox.start(consumer);
            await().atMost(SOON).until(() -> inbox.queueStats("payments").parked() == 1);
            inbox.accept(consumer, Db.message("m3"));
            await().atMost(SOON).until(() -> db.payments("m3") == 1);
            assertThat(db.number("SELECT count(*) FROM idem_queue WHERE reason = 'EXHAUSTED' AND failed = 1"))
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "PG-25 a redaction that fails leaves the type of the error, and a rule for an exception has its own limit")
    void brokenRedactionAndRules(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            RetryPolicy retry = RetryPolicy.fixed(Duration.ZERO)
                    .withMaxAttempts(2)
                    .on(
                            IllegalStateException.class,
                            RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(4));
            Consumer consumer = anything(
                    QueuePolicy.leased(Duration.ofSeconds(30))
                            .withBatch(1)
                            .withRetry(retry)
                            .withRedaction(text -> {
                                throw new StackOverflowError();
                            }),
                    (message, tx) -> {
                        throw new IllegalStateException("4111111111111111");
                    });
            inbox.accept(consumer, Db.message("m1"));
            inbox.start(consumer);
            await().atMost(SOON).until(() -> inbox.queueStats("payments").parked() == 1);
            assertThat(db.number("SELECT count(*) FROM idem_queue WHERE reason = 'EXHAUSTED' AND failed = 4"))
                    .isEqualTo(1);
            assertThat(db.number("SELECT count(*) FROM idem_attempt WHERE octet_length(error) = 0"
                            + " AND error_type = 'java.lang.IllegalStateException'"))
                    .isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-06 an old note of a worker that lives burns no attempt of what follows its heads")
    void aLivingWorkerIsNoCrash(Database database) {
        try (Db db = Db.fresh(database)) {
            JdbcStore store = db.store(db.pool(6));
            Inbox inbox = Inbox.create(store);
            Consumer consumer = anything(QueuePolicy.inTransaction().withOrderByKey(), QueueEdgeTest::pay);
            inbox.acceptAll(consumer, List.of(keyed("m1"), keyed("m2"), keyed("m3")));
            Taking taking = new Taking("payments", 1, "worker", 10, true, Duration.ZERO, false);
            try (QueueBatch batch = store.queue().take(taking).orElseThrow()) {
                assertThat(batch.messages()).hasSize(3);
                store.queue().running(taking, batch.messages());
                db.execute("UPDATE idem_worker SET seen_at = 0");
                Inbox other = db.inbox(db.pool(2));
                ((JdbcStore) other.store()).queue().recover("payments");
                assertThat(db.number("SELECT sum(started) FROM idem_queue")).isZero();
                other.close();
            }
            ((JdbcStore) db.inbox(db.pool(2)).store()).queue().recover("payments");
            assertThat(db.number("SELECT sum(started) FROM idem_queue")).isEqualTo(3);
            inbox.close();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-12 what waits behind another of its key counts towards the cap")
    void heldMessagesCount(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            Consumer consumer =
                    anything(QueuePolicy.inTransaction().withOrderByKey().withIntakeCap(5), QueueEdgeTest::pay);
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                messages.add(keyed("m" + i));
            }
            assertThat(inbox.acceptAll(consumer, messages)).allMatch(Outcome.Stored.class::isInstance);
            await().atMost(SOON)
                    .until(() -> inbox.accept(consumer, keyed("more")).settlement() == Settlement.RETRY);
        }
    }

    private static Consumer anything(QueuePolicy policy, Handler<Message, ?> handler) {
        return Consumer.named("payments").queued(policy).otherwise(handler).build();
    }

    private static Object pay(Message message, dev.idem.Transaction tx) throws java.sql.SQLException {
        Db.pay(tx.connection(), message.id().orElseThrow());
        return message;
    }

    private static Message typed(String id, String type) {
        return Message.builder().id(id).type(type).build();
    }

    private static Message keyed(String id) {
        return Message.builder().id(id).orderingKey("k").build();
    }
}
