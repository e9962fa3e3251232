package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a worker does between the messages that it has taken at once. */
class WorkerTurnTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final QueuePolicy LEASED = QueuePolicy.leased(Duration.ofSeconds(30));

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("what a worker has leased and not begun is given to others when its batch turns out to be slow")
    void slowAfterQuick(Database database) throws Exception {
        AtomicInteger slow = new AtomicInteger();
        AtomicReference<List<String>> behind = new AtomicReference<>(List.of());
        try (Db db = Db.fresh(database);
                Inbox one = db.inbox(db.pool(6));
                Inbox two = db.inbox(db.pool(6))) {
            Consumer consumer = Consumer.named("payments")
                    .queued(LEASED.withWorkers(1))
                    .otherwise((message, tx) -> {
                        String id = message.id().orElseThrow();
                        // Quick, until there is a batch of several: how large batches are is learnt from their speed.
                        if (slow.get() == 0 && !leasedBehind(db, id).isEmpty() && slow.compareAndSet(0, 1)) {
                            behind.set(leasedBehind(db, id));
                            two.start(other());
                            await().atMost(Duration.ofSeconds(20)).until(() -> paid(db, behind.get()));
                            slow.set(2);
                        }
                        Db.pay(tx.connection(), id);
                        return null;
                    })
                    .build();
            one.acceptAll(consumer, messages("m", 200));
            one.start(consumer);
            await().atMost(PATIENCE).until(() -> db.payments() == 200);
            assertThat(slow).hasValue(2);
            assertThat(behind.get()).isNotEmpty();
            assertThat(db.number("SELECT count(*) FROM idem_attempt")).isZero();
        }
    }

    private static Consumer other() {
        return InboxBench.consumer(LEASED.withWorkers(1));
    }

    private static List<String> leasedBehind(Db db, String id) throws SQLException {
        try (Connection connection = DriverManager.getConnection(db.url());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT readable FROM idem_queue WHERE status = 1 AND id >"
                        + " (SELECT id FROM idem_queue WHERE readable = '" + id + "')")) {
            List<String> found = new ArrayList<>();
            while (rows.next()) {
                found.add(rows.getString(1));
            }
            return found;
        }
    }

    private static boolean paid(Db db, List<String> ids) {
        return db.number("SELECT count(*) FROM payment WHERE order_id IN ('" + String.join("', '", ids) + "')")
                == ids.size();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("OP-01 the halves of a batch whose handler has failed do not begin after the inbox was asked to close")
    void noHalfBeginsAfterClose(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            AtomicInteger calls = new AtomicInteger();
            CountDownLatch begun = new CountDownLatch(1);
            Inbox inbox = db.inbox(db.pool(6));
            Thread closing = new Thread(inbox::close);
            Consumer consumer = Consumer.named("payments")
                    .queued(QueuePolicy.inTransaction().withWorkers(1))
                    .otherwiseAll((messages, tx) -> {
                        calls.incrementAndGet();
                        begun.countDown();
                        waitsForUs(closing);
                        throw new IllegalStateException("on purpose");
                    })
                    .build();
            inbox.acceptAll(consumer, messages("m", 8));
            inbox.start(consumer);
            Together.await(begun);
            closing.start();
            closing.join();
            assertThat(calls).hasValue(1);
            assertThat(db.number("SELECT count(*) FROM idem_attempt")).isZero();
            assertThat(db.number("SELECT count(*) FROM idem_queue WHERE status = 0 AND started = 0"))
                    .isEqualTo(8);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("OP-01 while an inbox closes, a running handler goes on with its steps and ends")
    void stepsEndWhileClosing(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            CountDownLatch begun = new CountDownLatch(1);
            Inbox inbox = db.inbox(db.pool(6));
            Thread closing = new Thread(inbox::close);
            Consumer consumer = Consumer.named("payments")
                    .queued(LEASED.withWorkers(1))
                    .otherwiseSteps((message, steps) -> {
                        steps.step("one", tx -> Db.pay(tx.connection(), "one"));
                        begun.countDown();
                        waitsForUs(closing);
                        steps.step("two", tx -> Db.pay(tx.connection(), "two"));
                    })
                    .build();
            inbox.acceptAll(consumer, messages("m", 1));
            inbox.start(consumer);
            Together.await(begun);
            closing.start();
            closing.join();
            assertThat(db.payments()).isEqualTo(2);
            assertThat(db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-03 an interrupt flag that a handler leaves behind reaches no call of the next message")
    void interruptFlagsOfSteps(Database database) throws Exception {
        AtomicInteger unknown = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        try (Db db = Db.fresh(database);
                Inbox inbox = Inbox.builder(db.store(db.pool(6)))
                        .listener(new InboxListener() {
                            @Override
                            public void effectUnknown(String consumer, String effect) {
                                unknown.incrementAndGet();
                            }
                        })
                        .build()) {
            Consumer consumer = Consumer.named("payments")
                    .queued(LEASED.withWorkers(1))
                    .otherwiseSteps((message, steps) -> {
                        steps.effect("mail", key -> {
                            Thread.sleep(0, 1);
                            done.incrementAndGet();
                        });
                        Thread.currentThread().interrupt();
                    })
                    .build();
            inbox.acceptAll(consumer, messages("m", 20));
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> db.number("SELECT count(*) FROM idem_queue") == 0);
            assertThat(done).hasValue(20);
            assertThat(unknown).hasValue(0);
        }
    }

    /** The one who closes has told the workers, and waits for them. */
    private static void waitsForUs(Thread closing) {
        await().atMost(PATIENCE).until(() -> closing.getState() == Thread.State.TIMED_WAITING);
    }

    private static List<Message> messages(String name, int count) {
        return IntStream.range(0, count).mapToObj(i -> Db.message(name + i)).toList();
    }
}
