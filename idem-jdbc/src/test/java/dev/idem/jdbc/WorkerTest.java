package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How workers share what is waiting, and what handlers cannot do to them. */
class WorkerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final RetryPolicy TWICE = RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2);
    private static final List<QueuePolicy> BOTH =
            List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)));

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("leased messages are shared among all idle workers of all instances")
    void slowMessagesRunSideBySide(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox one = db.inbox(db.pool(8));
                Inbox two = db.inbox(db.pool(8))) {
            CountDownLatch all = new CountDownLatch(8);
            Consumer consumer =
                    consumer(QueuePolicy.leased(Duration.ofSeconds(30)).withWorkers(4), (message, tx) -> {
                        all.countDown();
                        if (!all.await(20, TimeUnit.SECONDS)) {
                            throw new IllegalStateException("the others do not run beside this one");
                        }
                        return pay(message, tx);
                    });
            one.acceptAll(consumer, messages(8));
            one.start(consumer);
            two.start(consumer);
            await().atMost(PATIENCE).until(() -> db.payments() == 8);
            assertThat(db.number("SELECT count(*) FROM idem_attempt")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("OP-01 no handler begins after the inbox was asked to close")
    void nothingBeginsAfterClose(Database database) throws Exception {
        for (QueuePolicy policy : BOTH) {
            try (Db db = Db.fresh(database)) {
                AtomicInteger begun = new AtomicInteger();
                CountDownLatch second = new CountDownLatch(1);
                CountDownLatch closing = new CountDownLatch(1);
                Consumer consumer = consumer(policy.withWorkers(1), (message, tx) -> {
                    if (begun.incrementAndGet() == 2) {
                        second.countDown();
                        Together.await(closing);
                        TimeUnit.MILLISECONDS.sleep(100); // the close is on its way
                    }
                    return pay(message, tx);
                });
                Inbox inbox = db.inbox(db.pool(6));
                inbox.acceptAll(consumer, messages(20));
                inbox.start(consumer);
                Together.await(second);
                closing.countDown();
                inbox.close();
                assertThat(begun).hasValue(2);
                assertThat(db.payments()).isEqualTo(2);
                assertThat(db.number("SELECT count(*) FROM idem_queue WHERE status = 0 AND started = 0"))
                        .isEqualTo(18);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-06 every Throwable out of a handler is an attempt of its message alone")
    void everyThrowableCounts(Database database) throws Exception {
        for (QueuePolicy policy : BOTH) {
            for (Throwable thrown :
                    List.of(new ThreadDeath(), new InternalError("on purpose"), new InterruptedException())) {
                try (Db db = Db.fresh(database);
                        Inbox inbox = db.inbox(db.pool(6))) {
                    Consumer consumer = consumer(policy.withWorkers(2).withRetry(TWICE), (message, tx) -> {
                        pay(message, tx);
                        if (message.id().orElseThrow().equals("m3")) {
                            throw WorkerTest.<RuntimeException>sneaky(thrown);
                        }
                        return null;
                    });
                    inbox.acceptAll(consumer, messages(20));
                    inbox.start(consumer);
                    await().atMost(PATIENCE).until(() -> db.payments() == 19);
                    await().atMost(PATIENCE)
                            .until(() -> inbox.queueStats("payments").parked() == 1);
                    assertThat(db.number("SELECT failed FROM idem_queue")).isEqualTo(2);
                    assertThat(db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(2);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-03 an interrupt flag that a handler leaves behind costs no other message anything")
    void interruptFlagsAreLeftBehind(Database database) throws Exception {
        for (QueuePolicy policy : BOTH) {
            List<Outcome<?>> outcomes = new ArrayList<>();
            AtomicInteger runs = new AtomicInteger();
            try (Db db = Db.fresh(database);
                    Inbox inbox = heard(db, outcomes)) {
                Consumer consumer = consumer(policy.withWorkers(1), (message, tx) -> {
                    runs.incrementAndGet();
                    pay(message, tx);
                    Thread.currentThread().interrupt();
                    return null;
                });
                inbox.acceptAll(consumer, messages(60));
                inbox.start(consumer);
                await().atMost(PATIENCE).until(() -> db.payments() == 60);
                assertThat(runs).hasValue(60);
            }
            assertThat(outcomes).noneMatch(Outcome.Failed.class::isInstance);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-06 messages that were in the batch of a process that died are not parked, whatever maxAttempts says")
    void aCrashParksNobodyElse(Database database) throws Exception {
        for (QueuePolicy policy : BOTH) {
            try (Db db = Db.fresh(database);
                    JdbcStore dead = db.store(db.pool(6));
                    Inbox inbox = db.inbox(db.pool(6))) {
                Consumer consumer = consumer(
                        policy.withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(1)), WorkerTest::pay);
                inbox.acceptAll(consumer, messages(50));
                dies(dead.queue(), policy.isLeased());
                db.execute("UPDATE idem_worker SET seen_at = seen_at - 60000000");
                db.execute("UPDATE idem_queue SET due_at = due_at - 60000000 WHERE status = 1");
                inbox.start(consumer);
                await().atMost(PATIENCE)
                        .until(() -> db.payments() == 50
                                || inbox.queueStats("payments").parked() > 0);
                assertThat(inbox.queueStats("payments").parked()).isZero();
                assertThat(db.payments()).isEqualTo(50);
            }
        }
    }

    /** As a process that took 50 messages and was killed. */
    private static void dies(QueueStore queue, boolean leased) {
        QueueStore.Taking taking = new QueueStore.Taking("payments", 17, "dead", 50, false, Duration.ZERO, false);
        if (leased) {
            assertThat(queue.lease(taking, Duration.ofSeconds(30))).hasSize(50);
        } else {
            Optional<QueueBatch> taken = queue.take(taking);
            queue.running(taking, taken.orElseThrow().messages());
            taken.orElseThrow().close();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a failing head with followers pauses nobody")
    void aFailingHeadPausesNobody(Database database) throws Exception {
        AtomicInteger pauses = new AtomicInteger();
        try (Db db = Db.fresh(database);
                Inbox inbox = Inbox.builder(db.store(db.pool(6)))
                        .listener(new InboxListener() {
                            @Override
                            public void workersPaused(String consumer, Throwable cause) {
                                pauses.incrementAndGet();
                            }
                        })
                        .build()) {
            AtomicInteger heads = new AtomicInteger();
            Consumer consumer = consumer(
                    QueuePolicy.inTransaction()
                            .withOrderByKey()
                            .withWorkers(2)
                            .withRetry(RetryPolicy.fixed(Duration.ofMillis(5)).withMaxAttempts(20)),
                    (message, tx) -> {
                        if (message.id().orElseThrow().equals("m0") && heads.incrementAndGet() < 10) {
                            throw new IllegalStateException("not yet");
                        }
                        return pay(message, tx);
                    });
            inbox.acceptAll(
                    consumer,
                    messages(10).stream()
                            .map(message -> message.toBuilder().orderingKey("k").build())
                            .toList());
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> db.payments() == 10);
        }
        assertThat(pauses).hasValue(0);
    }

    private static Inbox heard(Db db, List<Outcome<?>> outcomes) {
        return Inbox.builder(db.store(db.pool(6)))
                .listener(new InboxListener() {
                    @Override
                    public void settled(Delivery delivery) {
                        outcomes.add(delivery.outcome());
                    }
                })
                .build();
    }

    private static Consumer consumer(QueuePolicy policy, Handler<Message, ?> handler) {
        return Consumer.named("payments").queued(policy).otherwise(handler).build();
    }

    private static Object pay(Message message, dev.idem.Transaction tx) throws java.sql.SQLException {
        Db.pay(tx.connection(), message.id().orElseThrow());
        return message;
    }

    private static List<Message> messages(int count) {
        return IntStream.range(0, count).mapToObj(i -> Db.message("m" + i)).toList();
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <X extends Throwable> X sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }
}
