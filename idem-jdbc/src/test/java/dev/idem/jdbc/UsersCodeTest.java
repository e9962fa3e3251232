package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.GapResolver;
import dev.idem.sequence.Sequence;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Code of users that workers run beside the handlers: it hangs, and ignores interrupts, or throws Errors. */
class UsersCodeTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final RetryPolicy TWICE = RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2);
    private static final List<QueuePolicy> BOTH =
            List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)));

    private volatile CountDownLatch end = new CountDownLatch(1);
    private final AtomicInteger pauses = new AtomicInteger();

    /** Else the close would wait for them. */
    @AfterEach
    void letThemGo() {
        end.countDown();
        end = new CountDownLatch(1);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a decoder of a batch handler that never returns is stuck alone, and the others are done")
    void hangingDecoder(Database database) {
        for (QueuePolicy policy : BOTH) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = inbox(db)) {
                Consumer consumer = together(policy, message -> {
                    if (isBad(message)) {
                        hang();
                    }
                    return message;
                });
                inbox.acceptAll(consumer, messages(10));
                inbox.start(consumer);
                othersAreDone(db, inbox, 9, "STUCK");
                letThemGo();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a decoder of a batch handler that can be interrupted is, at the handler's timeout")
    void slowDecoder(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = inbox(db)) {
            Consumer consumer = together(QueuePolicy.inTransaction(), message -> {
                if (isBad(message)) {
                    end.await();
                }
                return message;
            });
            inbox.acceptAll(consumer, messages(10));
            inbox.start(consumer);
            othersAreDone(db, inbox, 9, "EXHAUSTED");
            assertThat(db.number("SELECT count(*) FROM idem_attempt WHERE error_type ="
                            + " 'dev.idem.HandlerTimeoutException'"))
                    .isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-02 an Error out of a decoder of a batch handler is an attempt of its message alone")
    void deadlyDecoder(Database database) {
        for (QueuePolicy policy : BOTH) {
            for (Error thrown : List.of(new ThreadDeath(), new OutOfMemoryError("on purpose"))) {
                try (Db db = Db.fresh(database);
                        Inbox inbox = inbox(db)) {
                    Consumer consumer = together(policy, message -> {
                        if (isBad(message)) {
                            throw thrown;
                        }
                        return message;
                    });
                    inbox.acceptAll(consumer, messages(10));
                    inbox.start(consumer);
                    othersAreDone(db, inbox, 9, "EXHAUSTED");
                    assertThat(pauses).hasValue(0);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "HX-02 an Error out of a redaction, an exception's text or a delay keeps no failure from being recorded")
    void deadlyRecords(Database database) {
        for (QueuePolicy policy : BOTH) {
            QueuePolicy deadly = policy.withRedaction(text -> {
                        throw new ThreadDeath();
                    })
                    .withRetry(RetryPolicy.custom((failures, failure) -> {
                                throw new InternalError("on purpose");
                            })
                            .withMaxAttempts(2));
            try (Db db = Db.fresh(database);
                    Inbox inbox = inbox(db)) {
                Consumer consumer = Consumer.named("payments")
                        .queued(deadly.withWorkers(1))
                        .otherwise((message, tx) -> {
                            Db.pay(tx.connection(), message.id().orElseThrow());
                            if (isBad(message)) {
                                throw new Speechless();
                            }
                            return null;
                        })
                        .build();
                inbox.acceptAll(consumer, messages(10));
                inbox.start(consumer);
                othersAreDone(db, inbox, 9, "EXHAUSTED");
                assertThat(db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(2);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a lookup of a stream's beginning that never returns is stuck alone, and other streams go on")
    void hangingLookup(Database database) {
        for (QueuePolicy policy : BOTH) {
            try (SequenceBench bench = new SequenceBench(database)) {
                Sequence sequence = SequenceBench.FROM_ONE.startingAt(Sequence.Start.lookup(stream -> {
                    if (stream.equals("bad")) {
                        hang();
                    }
                    return 0;
                }));
                bench.streams("good");
                Consumer consumer = chain(policy.withRetry(TWICE), sequence);
                bench.inbox.accept(consumer, SequenceBench.message("bad", 1));
                bench.inbox.acceptAll(consumer, SequenceBench.messages("good", 1, 2, 3));
                bench.inbox.start(consumer);
                bench.awaitApplied("good", 3);
                bench.awaitRows("status = 4 AND reason = 'STUCK'", 1);
                letThemGo();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a gap resolver that never returns costs one thread, and its message is parked")
    void hangingResolver(Database database) {
        for (QueuePolicy policy : BOTH) {
            AtomicInteger asked = new AtomicInteger();
            try (SequenceBench bench = new SequenceBench(database);
                    CapturedLog log = CapturedLog.of(Inbox.class)) {
                Sequence sequence = SequenceBench.FROM_ONE
                        .gapDeadline(Duration.ofMillis(150))
                        .onGap((gap, message) -> {
                            asked.incrementAndGet();
                            hang();
                            return GapResolver.skip().decide(gap, message);
                        });
                bench.streams("bad", "good");
                Consumer consumer = chain(policy, sequence);
                bench.inbox.accept(consumer, SequenceBench.message("bad", 2));
                bench.inbox.start(consumer);
                bench.awaitRows("status = 4 AND reason = 'STUCK'", 1);
                bench.inbox.acceptAll(consumer, SequenceBench.messages("good", 1, 2, 3));
                bench.awaitApplied("good", 3);
                assertThat(asked).hasValue(1);
                assertThat(log.warnings())
                        .filteredOn(line -> line.startsWith("chain: message bad-2 is parked (STUCK)"))
                        .hasSize(1);
                letThemGo();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-02 an Error out of a gap resolver pauses no worker")
    void deadlyResolver(Database database) {
        AtomicInteger asked = new AtomicInteger();
        try (Db db = Db.fresh(database);
                Inbox inbox = inbox(db)) {
            Consumer consumer = Consumer.named("chain")
                    .queued(QueuePolicy.inTransaction().withPoll(Duration.ofMillis(50)))
                    .sequence(SequenceBench.FROM_ONE
                            .gapDeadline(Duration.ofMillis(100))
                            .onGap((gap, message) -> {
                                asked.incrementAndGet();
                                throw new ThreadDeath();
                            }))
                    .otherwise((message, tx) -> Db.nothing(tx))
                    .build();
            inbox.accept(consumer, SequenceBench.message("bad", 2));
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> asked.get() >= 3);
            assertThat(pauses).hasValue(0);
        }
    }

    private void othersAreDone(Db db, Inbox inbox, int others, String reason) {
        await().atMost(PATIENCE).until(() -> db.payments() == others);
        await().atMost(PATIENCE).until(() -> inbox.queueStats("payments").parked() == 1);
        assertThat(db.text("SELECT reason FROM idem_queue")).isEqualTo(reason);
        assertThat(db.payments()).isEqualTo(others);
    }

    private Consumer together(QueuePolicy policy, PayloadDecoder<Message> decoder) {
        return Consumer.named("payments")
                .policy(Policy.defaults().withHandlerTimeout(Duration.ofMillis(200)))
                .queued(policy.withWorkers(1).withRetry(TWICE))
                .onAll("paid", decoder, (messages, tx) -> {
                    for (Message message : messages) {
                        Db.pay(tx.connection(), message.id().orElseThrow());
                    }
                })
                .build();
    }

    /** As that of the bench, with little time for whatever is asked. */
    private static Consumer chain(QueuePolicy policy, Sequence sequence) {
        return Consumer.named("chain")
                .policy(Policy.defaults().withHandlerTimeout(Duration.ofMillis(200)))
                .queued(policy.withWorkers(1).withPoll(Duration.ofMillis(50)))
                .sequence(sequence)
                .otherwise((message, tx) -> {
                    try (var statement = tx.connection()
                            .prepareStatement("UPDATE chain SET version = ? WHERE stream = ? AND version = ? - 1")) {
                        long version = SequenceBench.version(message);
                        statement.setLong(1, version);
                        statement.setString(2, message.orderingKey().orElseThrow());
                        statement.setLong(3, version);
                        assertThat(statement.executeUpdate()).isEqualTo(1);
                    }
                    return null;
                })
                .build();
    }

    private Inbox inbox(Db db) {
        return Inbox.builder(db.store(db.pool(8)))
                .drain(Duration.ZERO)
                .listener(new InboxListener() {
                    @Override
                    public void workersPaused(String consumer, Throwable cause) {
                        pauses.incrementAndGet();
                    }
                })
                .build();
    }

    private static boolean isBad(Message message) {
        return message.id().orElseThrow().equals("m3");
    }

    private void hang() {
        CountDownLatch until = end;
        boolean ended = false;
        while (!ended) {
            try {
                ended = until.await(1, TimeUnit.SECONDS);
            } catch (InterruptedException ignored) {
                // that is what makes it stuck
            }
        }
    }

    private static List<Message> messages(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> Message.builder()
                        .id("m" + i)
                        .type("paid")
                        .payload(("m" + i).getBytes(StandardCharsets.UTF_8))
                        .build())
                .toList();
    }

    /** Nobody can hear what it says. */
    private static final class Speechless extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new OutOfMemoryError("on purpose");
        }
    }
}
