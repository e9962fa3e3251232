package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages that are acknowledged on receipt and handled later. */
class QueueTest {
    private static final RetryPolicy AT_ONCE = RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(3);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a stored message is handled once, and leaves nothing but its marker")
    void storedAndHandled(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            Consumer consumer = paying(QueuePolicy.inTransaction());
            List<Message> messages = messages(200);
            assertThat(inbox.acceptAll(consumer, messages)).allMatch(Outcome.Stored.class::isInstance);
            assertThat(inbox.acceptAll(consumer, messages)).allMatch(Outcome.Duplicate.class::isInstance);
            assertThat(inbox.queueStats("payments").pending()).isEqualTo(200);
            inbox.start(consumer);
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> inbox.queueStats("payments").pending() == 0);
            assertThat(db.payments()).isEqualTo(200);
            assertThat(db.markers()).isEqualTo(200);
            assertThat(db.number("SELECT count(*) FROM idem_queue")).isZero();
            assertThat(db.number("SELECT sum(duplicates) FROM idem_marker")).isEqualTo(200);
            assertThat(inbox.acceptAll(consumer, messages)).allMatch(Outcome.Duplicate.class::isInstance);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-01 a failing message is retried and parked, and the others go on")
    void retriedAndParked(Database database) throws Exception {
        for (QueuePolicy policy : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)))) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = db.inbox(db.pool(6))) {
                Consumer consumer = Consumer.named("payments")
                        .queued(policy.withRetry(AT_ONCE))
                        .otherwise((message, tx) -> {
                            Db.pay(tx.connection(), message.id().orElseThrow());
                            if (message.id().orElseThrow().equals("m7")) {
                                throw new IllegalStateException("not today");
                            }
                            if (message.id().orElseThrow().equals("m8")) {
                                throw new TerminalException("never", null);
                            }
                            return null;
                        })
                        .build();
                inbox.acceptAll(consumer, messages(20));
                inbox.start(consumer);
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> inbox.queueStats("payments").parked() == 2
                                && inbox.queueStats("payments").pending() == 0);
                assertThat(db.payments()).isEqualTo(18);
                assertThat(db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(4);
                assertThat(db.number("SELECT count(*) FROM idem_queue WHERE reason = 'EXHAUSTED' AND failed = 3"))
                        .isEqualTo(1);
                assertThat(db.number("SELECT count(*) FROM idem_queue WHERE reason = 'TERMINAL' AND failed = 1"))
                        .isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-35 RO-07 messages of one ordering key are handled in order, whatever fails")
    void ordered(Database database) throws Exception {
        for (QueuePolicy policy : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)))) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = db.inbox(db.pool(10))) {
                ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();
                AtomicInteger failures = new AtomicInteger();
                Consumer consumer = Consumer.named("payments")
                        .queued(policy.withOrderByKey()
                                .withWorkers(4)
                                .withBatch(10)
                                .withRetry(
                                        RetryPolicy.fixed(Duration.ofMillis(5)).withMaxAttempts(100)))
                        .otherwise((message, tx) -> {
                            String id = message.id().orElseThrow();
                            Db.pay(tx.connection(), id);
                            if (id.hashCode() % 7 == 0 && failures.incrementAndGet() % 3 != 0) {
                                throw new IllegalStateException("not today");
                            }
                            seen.add(id);
                            return null;
                        })
                        .build();
                List<Message> messages = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    messages.add(Message.builder()
                            .id("m" + i)
                            .orderingKey("k" + i % 5)
                            .build());
                }
                inbox.start(consumer);
                for (int i = 0; i < 300; i += 20) {
                    assertThat(inbox.acceptAll(consumer, messages.subList(i, i + 20)))
                            .allMatch(Outcome.Stored.class::isInstance);
                }
                await().atMost(Duration.ofSeconds(30)).until(() -> db.payments() == 300);
                assertThat(db.number("SELECT count(DISTINCT order_id) FROM payment"))
                        .isEqualTo(300);
                int[] last = {-1, -1, -1, -1, -1};
                for (String id : new ArrayList<>(new java.util.LinkedHashSet<>(seen))) {
                    int number = Integer.parseInt(id.substring(1));
                    assertThat(number).isGreaterThan(last[number % 5]);
                    last[number % 5] = number;
                }
                await().atMost(Duration.ofSeconds(30)).until(() -> db.number("SELECT count(*) FROM idem_queue") == 0);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-14 a message that nobody handles any more is parked, beside others that are handled")
    void unknownIsParked(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            Consumer.Builder before = Consumer.named("payments").queued(QueuePolicy.inTransaction());
            inbox.acceptAll(
                    before.otherwise((message, tx) -> null).build(),
                    List.of(typed("m1", "paid"), typed("m2", "refunded"), typed("m3", "paid")));
            inbox.start(Consumer.named("payments")
                    .queued(QueuePolicy.inTransaction().withWorkers(1))
                    .on("paid", dev.idem.PayloadDecoder.message(), (message, tx) -> {
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        return null;
                    })
                    .build());
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> inbox.queueStats("payments").parked() == 1);
            assertThat(db.payments()).isEqualTo(2);
            assertThat(db.number("SELECT count(*) FROM idem_queue WHERE reason = 'UNKNOWN_TYPE'"))
                    .isEqualTo(1);
        }
    }

    private static Message typed(String id, String type) {
        return Message.builder().id(id).type(type).build();
    }

    private static Consumer paying(QueuePolicy policy) {
        return Consumer.named("payments")
                .queued(policy)
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
    }

    private static List<Message> messages(int count) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(Message.of("m" + i, new byte[] {(byte) i}));
        }
        return messages;
    }
}
