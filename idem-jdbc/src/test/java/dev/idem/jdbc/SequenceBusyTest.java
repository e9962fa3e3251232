package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Sequence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What waits for a stream that somebody else works on, or whose beginning nobody can tell, is left alone meanwhile. */
class SequenceBusyTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("while a stream is busy its messages are not moved again and again, and go on when it is free")
    void busyStream(Database database) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (SequenceBench bench = new SequenceBench(database)) {
            Consumer consumer = Consumer.named("chain")
                    .queued(QueuePolicy.inTransaction()
                            .withWorkers(3)
                            .withBatch(20)
                            .withPoll(Duration.ofMillis(50)))
                    .sequence(SequenceBench.FROM_ONE)
                    .otherwise((message, tx) -> {
                        if (SequenceBench.version(message) == 1) {
                            begun.countDown();
                            goOn.await(30, TimeUnit.SECONDS);
                        }
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        return null;
                    })
                    .build();
            bench.inbox.accept(consumer, SequenceBench.message("s", 1, ""));
            bench.inbox.start(consumer);
            assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
            List<Message> messages = new ArrayList<>();
            for (int version = 2; version <= 101; version++) {
                messages.add(SequenceBench.message("s", version, ""));
            }
            bench.inbox.acceptAll(consumer, messages);
            await("moves of 100 messages within 6 s")
                    .during(Duration.ofSeconds(6))
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> bench.db.number("SELECT sum(fence) FROM idem_queue") < 1_200);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 3"))
                    .as("nobody may say that they wait for a gap")
                    .isZero();
            goOn.countDown();
            long since = System.nanoTime();
            await().atMost(LONG).until(() -> bench.db.payments() == 101);
            assertThat(Duration.ofNanos(System.nanoTime() - since)).isLessThan(Duration.ofSeconds(20));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a beginning that cannot be looked up is a failure of the message, with the delays of its policy")
    void failingLookup(Database database) {
        AtomicInteger asked = new AtomicInteger();
        try (SequenceBench bench = new SequenceBench(database)) {
            Sequence sequence = Sequence.by(Message::orderingKey, Sequence.header("version"))
                    .startingAt(Sequence.Start.lookup(stream -> {
                        asked.incrementAndGet();
                        throw new IllegalStateException("no beginning today");
                    }));
            QueuePolicy policy = QueuePolicy.inTransaction()
                    .withWorkers(2)
                    .withPoll(Duration.ofMillis(20))
                    .withRetry(RetryPolicy.fixed(Duration.ofMillis(300)).withMaxAttempts(3));
            Consumer consumer = bench.queued(policy, sequence);
            bench.inbox.accept(consumer, SequenceBench.message("s", 1, ""));
            bench.inbox.start(consumer);
            await().atMost(LONG).until(() -> bench.inbox.queueStats("chain").parked() == 1);
            assertThat(asked).hasValue(3);
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt WHERE error_type ="
                            + " 'java.lang.IllegalStateException'"))
                    .isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a lookup that throws an Error is a failure of its message, and costs no other stream anything")
    void lookupWithAnError(Database database) {
        try (SequenceBench bench = new SequenceBench(database)) {
            Sequence sequence = Sequence.by(Message::orderingKey, Sequence.header("version"))
                    .startingAt(Sequence.Start.lookup(stream -> {
                        if (stream.equals("good")) {
                            return 0;
                        }
                        throw new NoClassDefFoundError("no beginning today");
                    }));
            QueuePolicy policy = QueuePolicy.inTransaction()
                    .withWorkers(1)
                    .withPoll(Duration.ofMillis(20))
                    .withRetry(RetryPolicy.fixed(Duration.ofMillis(1)).withMaxAttempts(3));
            Consumer consumer = bench.queued(policy, sequence);
            bench.streams("good");
            bench.inbox.accept(consumer, SequenceBench.message("bad", 1));
            bench.inbox.accept(consumer, SequenceBench.message("good", 1));
            bench.inbox.start(consumer);
            await().atMost(LONG).until(() -> bench.inbox.queueStats("chain").parked() == 1);
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt WHERE error_type ="
                            + " 'java.lang.NoClassDefFoundError'"))
                    .isEqualTo(3);
            assertThat(bench.applied("good")).isEqualTo(1);
        }
    }
}
