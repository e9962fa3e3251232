package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Handlers of stored messages that ignore their timeout and interrupts. */
class StuckHandlerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final RetryPolicy OFTEN = RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(10);

    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicInteger entered = new AtomicInteger();
    private final AtomicInteger told = new AtomicInteger();
    private final AtomicInteger unknown = new AtomicInteger();

    @AfterEach
    void letThemGo() {
        end.countDown();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "HX-04 LS-12 a leased handler that never returns is counted as failed, and the other messages are done")
    void leased(Database database) throws Exception {
        try (CapturedLog log = CapturedLog.of(Inbox.class)) {
            othersAreDone(database, QueuePolicy.leased(Duration.ofSeconds(30)).withWorkers(1));
            assertThat(log.warnings())
                    .anySatisfy(line -> assertThat(line)
                            .contains("stuck", "payments", "StuckHandlerTest")
                            .doesNotContain("secret"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-04 a handler that never returns in the transaction of its batch does not take worker after worker")
    void inTransaction(Database database) throws Exception {
        othersAreDone(database, QueuePolicy.inTransaction().withWorkers(1));
    }

    private void othersAreDone(Database database, QueuePolicy policy) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = inbox(db)) {
            Consumer consumer = consumer(policy.withRetry(OFTEN));
            inbox.acceptAll(consumer, messages(10));
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> db.payments() == 9);
            await().atMost(PATIENCE)
                    .until(() -> inbox.queueStats("payments").parked() == 1
                            && inbox.queueStats("payments").inProgress() == 0);
            assertThat(db.text("SELECT reason FROM idem_queue")).isEqualTo("STUCK");
            assertThat(db.number("SELECT started FROM idem_queue")).isEqualTo(2);
            assertThat(db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(2);
            assertThat(entered).hasValue(2);
            await().atMost(PATIENCE).until(() -> told.get() == 2);

            end.countDown(); // those that come back say nothing, and do no harm
            inbox.acceptAll(consumer, List.of(Db.message("m10")));
            await().atMost(PATIENCE).until(() -> db.payments() == 10);
            assertThat(inbox.queueStats("payments").parked()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-04 one message that is always stuck does not stop the workers of two instances")
    void twoInstances(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox one = inbox(db);
                Inbox two = inbox(db)) {
            Consumer consumer = consumer(
                    QueuePolicy.inTransaction().withWorkers(2).withBatch(1).withRetry(OFTEN));
            one.acceptAll(consumer, messages(21));
            one.start(consumer);
            two.start(consumer);
            await().atMost(PATIENCE).until(() -> db.payments() == 20);
            await().atMost(PATIENCE).until(() -> one.queueStats("payments").parked() == 1);
            assertThat(db.text("SELECT reason FROM idem_queue")).isEqualTo("STUCK");
            // One more where another worker is quicker than the record: the databases promise no order of waiting.
            assertThat(entered.get()).isBetween(2, 3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "HX-04 stuck threads are replaced up to a bound, which is an error, and work goes on when they come back")
    void bounded(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                CapturedLog log = CapturedLog.of(Inbox.class);
                Inbox inbox = inbox(db)) {
            Consumer consumer = consumer(
                    QueuePolicy.inTransaction().withWorkers(2).withBatch(1).withRetry(OFTEN));
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                messages.add(Db.message("stuck" + i));
            }
            inbox.acceptAll(consumer, messages);
            inbox.start(consumer);
            await().atMost(PATIENCE)
                    .until(() -> log.everything().stream().anyMatch(line -> line.contains("0 workers are left")));
            assertThat(entered).hasValue(6);
            inbox.acceptAll(consumer, List.of(Db.message("m1")));
            assertThat(db.payments()).isZero();

            end.countDown();
            await().atMost(PATIENCE)
                    .until(() -> db.payments() + inbox.queueStats("payments").parked() == 7);
            assertThat(db.payments()).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-04 a stuck run that cannot be recorded is recorded later, and its worker replaced at once")
    void recordedLater(Database database) throws Exception {
        AtomicInteger refused = new AtomicInteger();
        try (Db db = Db.fresh(database);
                Inbox inbox = inbox(db.store(refusing(db.pool(8), refused)))) {
            Consumer consumer =
                    consumer(QueuePolicy.inTransaction().withWorkers(1).withRetry(OFTEN));
            inbox.acceptAll(consumer, messages(3));
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> db.payments() == 2);
            await().atMost(PATIENCE).until(() -> inbox.queueStats("payments").parked() == 1);
            assertThat(refused.get()).isGreaterThanOrEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "HX-04 a call that never returns is unknown at the deadline, and its worker goes on with other messages")
    void hungEffect(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = inbox(db)) {
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withHandlerTimeout(Duration.ofMillis(200)))
                    .queued(QueuePolicy.leased(Duration.ofSeconds(30))
                            .withWorkers(1)
                            .withRetry(RetryPolicy.fixed(Duration.ofMinutes(5))))
                    .otherwiseSteps((message, steps) -> {
                        steps.effect("charge", key -> hang(message));
                        steps.step(
                                "book",
                                tx -> Db.pay(tx.connection(), message.id().orElseThrow()));
                    })
                    .build();
            inbox.acceptAll(consumer, messages(3));
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> db.payments() == 2);
            await().atMost(PATIENCE)
                    .until(() -> db.number("SELECT count(*) FROM idem_queue WHERE status = 2 AND started = 1") == 1);
            assertThat(db.number("SELECT state FROM idem_step WHERE place >= 0"))
                    .isEqualTo(2);
            await().atMost(PATIENCE).until(() -> unknown.get() == 1 && told.get() == 1);
            assertThat(entered).hasValue(1);
        }
    }

    /** Has no connection for the first three who want to record that a handler is stuck. */
    private static DataSource refusing(DataSource pool, AtomicInteger refused) {
        return (DataSource) Proxy.newProxyInstance(
                StuckHandlerTest.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, args) -> {
                    if (method.getName().equals("getConnection")
                            && Thread.currentThread().getName().equals("idem-record")
                            && refused.incrementAndGet() <= 3) {
                        throw new InternalError("on purpose");
                    }
                    try {
                        return method.invoke(pool, args);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-03 when an inbox is closed, the leases of handlers that do not end are not renewed any more")
    void closed(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            Inbox inbox =
                    Inbox.builder(db.store(db.pool(6))).drain(Duration.ZERO).build();
            Consumer consumer = Consumer.named("payments")
                    .queued(QueuePolicy.leased(Duration.ofMillis(400)).withWorkers(1))
                    .otherwise(this::handle)
                    .build();
            inbox.acceptAll(consumer, List.of(Db.message("stuck")));
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> entered.get() == 1);
            inbox.close();
            String lease = "SELECT due_at FROM idem_queue";
            long until = db.number(lease);
            TimeUnit.MILLISECONDS.sleep(600); // a lease and a half
            assertThat(db.number(lease)).isEqualTo(until);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-04 messages that shared a call which never returned run alone, and only the culprit is parked")
    void sharedCall(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = inbox(db)) {
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withHandlerTimeout(Duration.ofMillis(200)))
                    .queued(QueuePolicy.inTransaction().withWorkers(1).withRetry(OFTEN))
                    .otherwiseAll((messages, tx) -> {
                        for (Message message : messages) {
                            handle(message, tx.connection());
                        }
                    })
                    .build();
            inbox.acceptAll(consumer, messages(5));
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> db.payments() == 4);
            await().atMost(PATIENCE).until(() -> inbox.queueStats("payments").parked() == 1);
            assertThat(db.payments()).isEqualTo(4);
        }
    }

    private Inbox inbox(Db db) {
        return inbox(db.store(db.pool(8)));
    }

    private Inbox inbox(JdbcStore store) {
        return Inbox.builder(store)
                .drain(Duration.ZERO)
                .listener(new InboxListener() {
                    @Override
                    public void handlerStuck(String consumer, String thread) {
                        told.incrementAndGet();
                    }

                    @Override
                    public void effectUnknown(String consumer, String effect) {
                        unknown.incrementAndGet();
                    }
                })
                .build();
    }

    private Consumer consumer(QueuePolicy policy) {
        return Consumer.named("payments")
                .policy(Policy.defaults().withHandlerTimeout(Duration.ofMillis(200)))
                .queued(policy)
                .otherwise(this::handle)
                .build();
    }

    private Object handle(Message message, dev.idem.Transaction tx) throws Exception {
        handle(message, tx.connection());
        return message;
    }

    private void handle(Message message, java.sql.Connection connection) throws Exception {
        Db.pay(connection, message.id().orElseThrow());
        hang(message);
    }

    private void hang(Message message) {
        if (message.id().orElseThrow().startsWith("stuck")) {
            entered.incrementAndGet();
            boolean ended = false;
            while (!ended) {
                try {
                    ended = end.await(1, TimeUnit.SECONDS);
                } catch (InterruptedException ignored) {
                    // that is what makes it stuck
                }
            }
        }
    }

    private static List<Message> messages(int count) {
        List<Message> messages = new ArrayList<>();
        messages.add(Message.of("stuck", "secret".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
        for (int i = 1; i < count; i++) {
            messages.add(Db.message("m" + i));
        }
        return messages;
    }
}
