package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.jdbc.admin.InboxAction;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** People and workers at the same messages. */
class InboxRaceTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 a message that a worker has now is busy for everybody else, and its effect happens once")
    void busy(Database database) throws Exception {
        List<QueuePolicy> ways = List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)));
        for (QueuePolicy way : ways) {
            try (InboxBench bench = new InboxBench(database)) {
                CountDownLatch running = new CountDownLatch(1);
                CountDownLatch end = new CountDownLatch(1);
                Consumer consumer = Consumer.named("payments")
                        .queued(way.withWorkers(1))
                        .otherwise((message, tx) -> {
                            Db.pay(tx.connection(), message.id().orElseThrow());
                            running.countDown();
                            end.await(20, TimeUnit.SECONDS);
                            return null;
                        })
                        .build();
                long id = bench.store(way, "m1").get(0);
                bench.inbox.start(consumer);
                assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
                for (InboxAction action : InboxAction.values()) {
                    InboxAnswer answer = bench.anna().act(action, id);
                    assertThat(answer.result()).as(action.name()).isEqualTo(InboxAnswer.Result.BUSY);
                    assertThat(answer.detail()).contains("handled now by worker", "/payments-0");
                }
                InboxFilter all = InboxFilter.all().withStates(QueueState.RECEIVED, QueueState.IN_PROGRESS);
                assertThat(bench.anna().skipAll(all, sum -> {}).busy()).isEqualTo(1);
                end.countDown();
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
                assertThat(bench.db.payments()).isEqualTo(1);
                assertThat(bench.audits()).isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 a worker whose lease ran out cannot commit after a person has parked its message")
    void parkedUnderItsHands(Database database) throws Exception {
        try (InboxBench bench = new InboxBench(database)) {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Consumer consumer = Consumer.named("payments")
                    .queued(QueuePolicy.leased(Duration.ofHours(1)).withWorkers(1))
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        running.countDown();
                        end.await(20, TimeUnit.SECONDS);
                        return null;
                    })
                    .build();
            long id = bench.store(InboxBench.PLAIN, "m1").get(0);
            bench.inbox.start(consumer);
            assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
            bench.db.execute("UPDATE idem_queue SET due_at = 1"); // long before the next renewal
            assertThat(bench.anna().skip(id).result()).isEqualTo(InboxAnswer.Result.REFUSED);
            assertThat(bench.anna().park(id).result()).isEqualTo(InboxAnswer.Result.CHANGED);
            assertThat(bench.anna().skip(id).result()).isEqualTo(InboxAnswer.Result.CHANGED);
            end.countDown();
            bench.inbox.close();
            assertThat(bench.db.payments()).isZero();
            assertThat(bench.state(id)).isEqualTo(QueueState.FAILED_TERMINAL);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 of many people who want the same at once one does it, and the audit knows one")
    void onePersonDoesIt(Database database) throws Exception {
        try (InboxBench bench = new InboxBench(database)) {
            JdbcInbox shared = JdbcInbox.of(JdbcSchema.of(bench.db.pool(8)));
            List<Long> ids = bench.store(InboxBench.ORDERED, "a1", "a2", "b1");
            for (InboxAction action : List.of(InboxAction.PARK, InboxAction.RETRY, InboxAction.SKIP)) {
                for (long id : ids) {
                    List<InboxAnswer> answers = Together.run(
                            8, person -> shared.as("person " + person, "race").act(action, id));
                    assertThat(answers)
                            .filteredOn(answer -> answer.result() == InboxAnswer.Result.CHANGED)
                            .as("%s of %s", action, id)
                            .hasSize(1);
                    assertThat(answers)
                            .extracting(InboxAnswer::result)
                            .isSubsetOf(
                                    InboxAnswer.Result.CHANGED, InboxAnswer.Result.UNCHANGED, InboxAnswer.Result.BUSY);
                }
            }
            assertThat(bench.audits()).isEqualTo(9);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 5"))
                    .isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 people who retry, park and skip at random beside workers neither double nor lose an effect")
    void storm(Database database) throws Exception {
        int count = 120;
        List<QueuePolicy> ways = List.of(InboxBench.ORDERED, QueuePolicy.leased(Duration.ofSeconds(30)));
        for (QueuePolicy way : ways) {
            try (InboxBench bench = new InboxBench(database)) {
                Map<String, Boolean> failedOnce = new ConcurrentHashMap<>();
                Consumer consumer = Consumer.named("payments")
                        .queued(way.withWorkers(3).withBatch(7))
                        .otherwise((message, tx) -> {
                            String id = message.id().orElseThrow();
                            Db.pay(tx.connection(), id);
                            if (failedOnce.put(id, true) == null && id.hashCode() % 3 == 0) {
                                throw new IllegalStateException("not yet");
                            }
                            return null;
                        })
                        .build();
                List<Long> ids = bench.store(
                        way,
                        IntStream.range(0, count)
                                .mapToObj(i -> "abcdefg".charAt(i % 7) + "-" + i)
                                .toArray(String[]::new));
                bench.inbox.start(consumer);
                Together.run(2, person -> {
                    ThreadLocalRandom random = ThreadLocalRandom.current();
                    for (int i = 0; i < 150; i++) {
                        InboxAction action = InboxAction.values()[random.nextInt(3)];
                        bench.anna().force().act(action, ids.get(random.nextInt(count)));
                    }
                    return person;
                });
                InboxFilter stuck = InboxFilter.all().withStates(QueueState.PARKED, QueueState.FAILED_RETRYABLE);
                await().atMost(Duration.ofSeconds(60)).until(() -> {
                    bench.anna().retryAll(stuck, sum -> {});
                    return bench.db.number("SELECT count(*) FROM idem_queue WHERE status <> 5") == 0;
                });
                long skipped = bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 5");
                assertThat(bench.db.payments()).isEqualTo(count - skipped);
                assertThat(bench.db.number("SELECT count(DISTINCT order_id) FROM payment"))
                        .isEqualTo(count - skipped);
            }
        }
    }
}
