package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.QueuePolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
    @DisplayName("slow messages are shared among idle workers also after quick ones, which are leased many at a time")
    void slowAfterQuick(Database database) throws Exception {
        CountDownLatch all = new CountDownLatch(6);
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(10))) {
            Consumer consumer = Consumer.named("payments")
                    .queued(LEASED.withWorkers(6))
                    .otherwise((message, tx) -> {
                        if (message.id().orElseThrow().startsWith("slow")) {
                            all.countDown();
                            if (!all.await(20, TimeUnit.SECONDS)) {
                                throw new IllegalStateException("the others do not run beside this one");
                            }
                        }
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        return null;
                    })
                    .build();
            inbox.acceptAll(consumer, messages("quick", 200));
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> db.payments() == 200);
            inbox.acceptAll(consumer, messages("slow", 6));
            await().atMost(PATIENCE).until(() -> db.payments() == 206);
            assertThat(db.number("SELECT count(*) FROM idem_attempt")).isZero();
        }
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
