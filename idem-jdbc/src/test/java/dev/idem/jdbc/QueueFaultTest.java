package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Rejection;
import dev.idem.RetryPolicy;
import dev.idem.Settlement;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.test.fault.ForkedJvm;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes wrong with stored messages, and what is left of it. */
class QueueFaultTest {
    private static final RetryPolicy TWICE = RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-02 RO-11 while the database cannot be reached no message loses an attempt, and then all are handled")
    void anOutageCostsNoAttempt(Database database) throws Exception {
        for (QueuePolicy policy : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(1)))) {
            try (Db db = Db.fresh(database)) {
                AtomicBoolean down = new AtomicBoolean();
                AtomicInteger refused = new AtomicInteger();
                DataSource real = db.pool(6);
                try (Inbox inbox = db.inbox(new UnitDataSource(() -> {
                    if (down.get()) {
                        refused.incrementAndGet();
                        throw new SQLException("The server is down", "08001");
                    }
                    return real.getConnection();
                }))) {
                    Consumer consumer = consumer(policy.withRetry(TWICE), QueueFaultTest::pay);
                    inbox.acceptAll(consumer, messages(50));
                    down.set(true);
                    assertThat(inbox.accept(consumer, Db.message("late")).settlement())
                            .isEqualTo(Settlement.RETRY);
                    assertThat(start(inbox, consumer, down)).isTrue();
                    await().atMost(Duration.ofSeconds(20)).until(() -> db.payments() == 50);
                    assertThat(db.number("SELECT count(*) FROM idem_attempt")).isZero();
                    assertThat(refused.get()).as("no hot loop").isLessThan(200);
                }
            }
        }
    }

    /** Starts while the database is there, takes it away for a second, and gives it back. */
    private static boolean start(Inbox inbox, Consumer consumer, AtomicBoolean down) throws InterruptedException {
        down.set(false);
        inbox.register(consumer);
        down.set(true);
        inbox.start(consumer);
        TimeUnit.SECONDS.sleep(1); // an outage takes time
        down.set(false);
        return true;
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "PC-07 PC-09 a handler of a stored message that swallows errors or commits is found out; the others are done")
    void hostileHandlers(Database database) throws Exception {
        for (QueuePolicy policy : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)))) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = db.inbox(db.pool(6))) {
                if (database == Database.MARIADB) {
                    db.execute("CREATE PROCEDURE sneaky() BEGIN COMMIT; END");
                }
                String hidden = database == Database.MARIADB ? "CALL sneaky()" : "SELECT 1; COMMIT";
                Consumer consumer = consumer(policy.withRetry(TWICE).withWorkers(1), (message, tx) -> {
                    String id = message.id().orElseThrow();
                    Db.pay(tx.connection(), id);
                    if (id.equals("m3")) {
                        tx.connection().prepareStatement(hidden).execute();
                    }
                    return null;
                });
                inbox.acceptAll(consumer, messages(10));
                inbox.start(consumer);
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> inbox.queueStats("payments").pending() == 0
                                && inbox.queueStats("payments").inProgress() == 0);
                assertThat(db.number("SELECT count(DISTINCT order_id) FROM payment"))
                        .isEqualTo(10);
                assertThat(db.payments()).as("nobody is paid twice").isEqualTo(10);
                assertThat(inbox.queueStats("payments").parked()).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-24 HX-04 a handler that takes too long is counted as failed, and the others of its batch are done")
    void aTimeoutIsAnAttempt(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withHandlerTimeout(Duration.ofMillis(300)))
                    .queued(QueuePolicy.inTransaction().withRetry(TWICE).withWorkers(1))
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        if (message.id().orElseThrow().equals("m5")) {
                            TimeUnit.SECONDS.sleep(20);
                        }
                        return null;
                    })
                    .build();
            inbox.acceptAll(consumer, messages(10));
            inbox.start(consumer);
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> inbox.queueStats("payments").parked() == 1);
            await().atMost(Duration.ofSeconds(20)).until(() -> db.payments() == 9);
            assertThat(db.number("SELECT failed FROM idem_queue WHERE reason = 'EXHAUSTED'"))
                    .isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-26 PG-23 a message comes out as it went in, byte for byte; one that is too large does not go in")
    void bytesAreKept(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            byte[] bytes = new byte[100_000];
            new java.util.Random(1).nextBytes(bytes);
            Message sent = Message.builder()
                    .id("m\u0000\ud83d\ude00")
                    .type("a\u0000b")
                    .orderingKey("k\u0000")
                    .header("h", new byte[] {0, -1, 10})
                    .header("h", new byte[0])
                    .header("", "x")
                    .eventTime(java.time.Instant.ofEpochSecond(1_700_000_000, 123_456_789))
                    .payload(bytes)
                    .build();
            AtomicReference<Message> got = new AtomicReference<>();
            Consumer consumer = Consumer.named("payments")
                    .queued(QueuePolicy.inTransaction().withMaxBytes(200_000).withOrderByKey())
                    .otherwise((message, tx) -> {
                        got.set(message);
                        Db.pay(tx.connection(), "1");
                        return null;
                    })
                    .build();
            assertThat(inbox.accept(consumer, sent)).isInstanceOf(Outcome.Stored.class);
            assertThat(inbox.accept(consumer, Message.of("large", new byte[200_001])))
                    .isInstanceOfSatisfying(
                            Outcome.Rejected.class, r -> assertThat(r.reason()).isEqualTo(Rejection.TOO_LARGE));
            inbox.start(consumer);
            await().atMost(Duration.ofSeconds(20)).until(() -> db.payments() == 1);
            assertThat(got.get().payload()).isEqualTo(bytes);
            assertThat(got.get().headers()).isEqualTo(sent.headers());
            assertThat(got.get().id()).isEqualTo(sent.id());
            assertThat(got.get().type()).isEqualTo(sent.type());
            assertThat(got.get().orderingKey()).isEqualTo(sent.orderingKey());
            assertThat(got.get().eventTime()).isEqualTo(sent.eventTime());
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-12 above its cap the queue sends messages back to the broker")
    void theIntakeIsCapped(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6))) {
            Consumer consumer = consumer(QueuePolicy.inTransaction().withIntakeCap(10), QueueFaultTest::pay);
            assertThat(inbox.acceptAll(consumer, messages(10))).allMatch(Outcome.Stored.class::isInstance);
            await().atMost(Duration.ofSeconds(5)).until(() -> {
                Outcome<?> outcome = inbox.accept(consumer, Db.message("more"));
                return outcome instanceof Outcome.Failed<?> failed
                        && failed.kind() == Failure.INFRASTRUCTURE
                        && failed.settlement() == Settlement.RETRY;
            });
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("RO-06 LS-12 a message that ends the process of its handler is parked, and the others are done")
    void aBombIsParked(boolean leased) throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(db.pool(4))) {
            inbox.acceptAll(
                    QueueBomb.consumer(leased), List.of(Db.message("m1"), Db.message("bomb"), Db.message("m2")));
            int processes = 0;
            while (inbox.queueStats("bombs").parked() == 0) {
                processes++;
                assertThat(processes).as("how often it takes a process along").isLessThan(20);
                try (ForkedJvm process = ForkedJvm.start(
                        List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
                        QueueBomb.class,
                        db.url(),
                        "" + leased)) {
                    process.waitForExit(Duration.ofSeconds(60));
                }
            }
            assertThat(db.number("SELECT count(*) FROM idem_queue WHERE status = 4 AND reason = 'CRASHED'"))
                    .isEqualTo(1);
            assertThat(db.payments("m1")).isEqualTo(1);
            assertThat(db.payments("m2")).isEqualTo(1);
            assertThat(db.payments("bomb")).isZero();
        }
    }

    private static Consumer consumer(QueuePolicy policy, Handler<Message, ?> handler) {
        return Consumer.named("payments").queued(policy).otherwise(handler).build();
    }

    private static Object pay(Message message, dev.idem.Transaction tx) throws SQLException {
        Db.pay(tx.connection(), message.id().orElseThrow());
        return message;
    }

    private static List<Message> messages(int count) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(Db.message("m" + i));
        }
        return messages;
    }
}
