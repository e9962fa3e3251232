package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueState;
import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import dev.idem.test.fault.ForkedJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What workers see when they look for something to do: no more than they can hold, and nothing in vain. */
class QueueLookTest {
    private static final Duration SOON = Duration.ofSeconds(40);

    /** With four megabytes each they are more than the process has. */
    private static final int LARGE = 50;

    @ParameterizedTest
    @CsvSource({"POSTGRESQL, true", "POSTGRESQL, false", "MARIADB, true", "MARIADB, false"})
    @DisplayName("a backlog of messages that do not fit into the memory together is handled")
    void largeMessages(Database database, boolean leased) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            byte[] large = new byte[4 << 20];
            for (int i = 0; i < LARGE; i++) {
                inbox.accept(
                        QueueHoard.consumer(leased),
                        Message.builder().id("m" + i).payload(large).build());
            }
            inbox.accept(QueueHoard.consumer(leased), Db.message("small"));
            try (ForkedJvm process =
                    ForkedJvm.start(List.of("-Xmx176m"), QueueHoard.class, db.url(), Boolean.toString(leased))) {
                assertThat(process.waitForExit(Duration.ofMinutes(3)))
                        .as(() -> String.join("\n", process.lines()))
                        .isZero();
            }
            assertThat(db.number("SELECT count(DISTINCT order_id) FROM payment WHERE order_id LIKE 'm%/4194304'"))
                    .isEqualTo(LARGE);
            assertThat(db.payments()).isEqualTo(LARGE + 1);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Database.class, names = "H2", mode = EnumSource.Mode.EXCLUDE) // it locks all that it sorts
    @DisplayName("what does not fit into a worker's batch is free for the next one, and in order")
    void theRestIsFree(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            for (int i = 0; i < 12; i++) {
                bench.inbox.accept(
                        InboxBench.consumer(InboxBench.PLAIN),
                        Message.builder().id("m" + i).payload(new byte[3 << 20]).build());
            }
            QueueStore queue = ((JdbcStore) bench.inbox.store()).queue();
            try (QueueBatch first = queue.take(taking(100, false)).orElseThrow();
                    QueueBatch second = queue.take(taking(100, false)).orElseThrow()) {
                assertThat(ids(first.messages())).containsExactly("m0", "m1", "m2", "m3", "m4");
                assertThat(ids(second.messages())).containsExactly("m5", "m6", "m7", "m8", "m9");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "workers share the memory for large messages: the more there are, the fewer each takes, but always one")
    void memoryIsShared(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            for (int i = 0; i < 3; i++) {
                bench.inbox.accept(
                        InboxBench.consumer(InboxBench.PLAIN),
                        Message.builder().id("m" + i).payload(new byte[1 << 20]).build());
            }
            QueueStore queue = ((JdbcStore) bench.inbox.store()).queue();
            try (QueueBatch alone = queue.take(taking(100, false)).orElseThrow()) {
                assertThat(ids(alone.messages())).containsExactly("m0", "m1", "m2");
            }
            queue.prepare("payments", 100_000);
            try (QueueBatch oneOfMany = queue.take(taking(100, false)).orElseThrow()) {
                assertThat(ids(oneOfMany.messages())).containsExactly("m0");
            }
            assertThat(queue.lease(taking(100, false), Duration.ofMinutes(1))).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Database.class, names = "H2", mode = EnumSource.Mode.EXCLUDE) // it locks all that it sorts
    @DisplayName("as many workers run at once as there are messages, though each takes one")
    void asManyAsThereAre(Database database) throws Exception {
        CountDownLatch all = new CountDownLatch(16);
        Consumer consumer = Consumer.named("payments")
                .queued(QueuePolicy.inTransaction().withWorkers(16).withBatch(1).withPoll(Duration.ofMillis(100)))
                .otherwise((message, tx) -> {
                    tx.nothingToDo();
                    all.countDown();
                    return all.await(20, TimeUnit.SECONDS);
                })
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(40))) {
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                messages.add(Db.message("m" + i));
            }
            inbox.acceptAll(consumer, messages);
            inbox.start(consumer);
            assertThat(all.await(20, TimeUnit.SECONDS)).as("16 at once").isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("messages that stand behind parked ones are not looked at, and keep nobody from other keys")
    void blockedRowsAreHeld(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            List<Long> ids = new ArrayList<>();
            for (char key = 'a'; key < 'u'; key++) {
                ids.addAll(bench.store(InboxBench.ORDERED, key + "1", key + "2"));
            }
            for (int i = 0; i < ids.size(); i += 2) {
                bench.put(ids.get(i), QueueState.PARKED, false);
                bench.put(ids.get(i + 1), QueueState.RECEIVED, true); // as a store that did not see the first left them
            }
            bench.store(InboxBench.ORDERED, "z1");
            QueueStore queue = ((JdbcStore) bench.inbox.store()).queue();
            try (QueueBatch batch = queue.take(taking(1, true)).orElseThrow()) {
                assertThat(ids(batch.messages())).containsExactly("z1");
            }
            queue.recover("payments");
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE due_at IS NOT NULL"))
                    .as("to be looked at")
                    .isEqualTo(1);
            bench.anna().retry(ids.get(0));
            assertThat(bench.anna().skip(ids.get(2)).result()).isEqualTo(InboxAnswer.Result.CHANGED);
            bench.inbox.start(InboxBench.consumer(InboxBench.ORDERED));
            await().atMost(SOON).until(() -> bench.db.payments() == 4);
            assertThat(bench.db.text("SELECT count(*) FROM payment WHERE order_id IN ('a1', 'a2', 'b2', 'z1')"))
                    .isEqualTo("4");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-07 what is held though nothing is before it is released soon, whoever else waits")
    void strandedAmongMany(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 1_200; i++) {
                messages.add(keyed("p" + i, "key-" + i));
                messages.add(keyed("q" + i, "key-" + i));
            }
            bench.inbox.acceptAll(InboxBench.consumer(InboxBench.ORDERED), messages);
            bench.db.execute("UPDATE idem_queue SET status = 4, due_at = NULL WHERE readable LIKE 'p%'");
            bench.db.execute("DELETE FROM idem_queue WHERE readable IN ('p7', 'p600', 'p1199')");
            QueueStore queue = ((JdbcStore) bench.inbox.store()).queue();
            int released = 0;
            for (int looks = 0; looks < 3; looks++) { // on a slow machine one look ends before it has seen all
                released += queue.recover("payments");
            }
            assertThat(released).isEqualTo(3);
            assertThat(bench.db.number(
                            "SELECT count(*) FROM idem_queue WHERE status = 0 AND readable IN ('q7', 'q600', 'q1199')"))
                    .isEqualTo(3);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 3"))
                    .isEqualTo(1_197);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("what is due at once is taken whatever the clock says, and failed messages are not forgotten for it")
    void dueNowNeedsNoClock(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            List<Long> ids = bench.store(InboxBench.PLAIN, "a1", "b1", "c1", "d1");
            bench.put(ids.get(0), QueueState.FAILED_RETRYABLE, true);
            bench.db.execute("UPDATE idem_queue SET due_at = due_at - 5000000 WHERE status = 2");
            // As if the clock had been an hour ahead when they were stored, and was then set right.
            bench.db.execute("UPDATE idem_queue SET stored_at = stored_at + 3600000000,"
                    + " due_at = CASE WHEN status = 0 AND due_at > 0 THEN due_at + 3600000000 ELSE due_at END");
            QueueStore queue = ((JdbcStore) bench.inbox.store()).queue();
            try (QueueBatch batch = queue.take(taking(10, false)).orElseThrow()) {
                assertThat(ids(batch.messages())).containsExactlyInAnyOrder("a1", "b1", "c1", "d1");
            }
            queue.recover("payments");
            try (QueueBatch batch = queue.take(taking(1, false)).orElseThrow()) {
                assertThat(ids(batch.messages()))
                        .as("the oldest, which has failed, before all that came later")
                        .containsExactly("a1");
            }
            assertThat(queue.stats("payments").oldestPending()).hasValue(Duration.ZERO);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("two stored messages of one key make two effects, though somebody removed a marker by hand")
    void twoRowsOfOneKey(Database database) {
        for (QueuePolicy policy : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(20)))) {
            try (InboxBench bench = new InboxBench(database)) {
                QueuePolicy one = policy.withWorkers(1)
                        .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(3));
                bench.store(one, "a1");
                bench.db.execute("DELETE FROM idem_marker");
                bench.store(one, "a1", "b1");
                bench.inbox.start(InboxBench.consumer(one));
                await().atMost(SOON).until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
                assertThat(bench.db.payments("a1")).isEqualTo(2);
                assertThat(bench.db.payments("b1")).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-07 messages that were given up do not stand in line, until somebody wants them again")
    void skippedMessagesLeaveTheLine(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            List<Long> ids = bench.store(InboxBench.ORDERED, "k1", "k2", "k3");
            bench.put(ids.get(0), QueueState.PARKED, false);
            assertThat(bench.anna().skip(ids.get(0)).result()).isEqualTo(InboxAnswer.Result.CHANGED);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE order_key IS NOT NULL"))
                    .as("that a worker looks through for the first of the key")
                    .isEqualTo(2);
            assertThat(bench.anna().force().retry(ids.get(0)).result()).isEqualTo(InboxAnswer.Result.CHANGED);
            bench.inbox.start(InboxBench.consumer(InboxBench.ORDERED));
            await().atMost(SOON).until(() -> bench.db.payments() == 3);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }

    private static QueueStore.Taking taking(int limit, boolean ordered) {
        return new QueueStore.Taking(
                "payments", UUID.randomUUID().getMostSignificantBits(), "w", limit, ordered, Duration.ZERO, false);
    }

    private static List<String> ids(List<QueuedMessage> messages) {
        return messages.stream().map(m -> m.message().id().orElseThrow()).toList();
    }

    private static Message keyed(String id, String key) {
        return Db.message(id).toBuilder().orderingKey(key).build();
    }
}
