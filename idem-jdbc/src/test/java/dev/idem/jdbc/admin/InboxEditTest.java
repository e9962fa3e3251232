package dev.idem.jdbc.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Header;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.InboxBench;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.Together;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Parked messages that a person repairs. */
class InboxEditTest {
    private static final InboxEdit FIXED = InboxEdit.nothing()
            .payload(bytes("fixed"))
            .header("region", "eu")
            .header("added", "yes")
            .withoutHeader("token");

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Message original(String id) {
        return Message.builder()
                .id(id)
                .type("paid")
                .orderingKey("k")
                .header("token", "secret")
                .header("region", "us")
                .header("region", "ca")
                .header("trace", "t1")
                .payload(bytes("broken"))
                .build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-02 an edited message runs with its new bytes under its old id; the original stays a duplicate")
    void editedAndRetried(Database database) throws Exception {
        try (InboxBench bench = new InboxBench(database)) {
            Map<String, Message> handled = new ConcurrentHashMap<>();
            Consumer consumer = Consumer.named("payments")
                    .queued(QueuePolicy.inTransaction())
                    .otherwise((message, tx) -> {
                        handled.put(message.id().orElseThrow(), message);
                        tx.nothingToDo();
                        return null;
                    })
                    .build();
            bench.inbox.accept(consumer, original("m1"));
            long id = bench.operator.find("payments", "m1").orElseThrow();
            assertThat(bench.anna().edit(id, FIXED).result()).isEqualTo(InboxAnswer.Result.REFUSED);
            bench.anna().park(id);
            long fence = bench.fence(id);
            assertThat(bench.anna().dryRun().edit(id, FIXED).result()).isEqualTo(InboxAnswer.Result.CHANGED);
            assertThat(bench.operator.revisions(id)).isEmpty();
            assertThat(bench.anna().edit(id, FIXED).result()).isEqualTo(InboxAnswer.Result.CHANGED);
            assertThat(bench.anna().edit(id, FIXED).result()).isEqualTo(InboxAnswer.Result.UNCHANGED);
            assertThat(bench.anna()
                            .edit(id, InboxEdit.nothing().payload(bytes("fixed again")))
                            .result())
                    .isEqualTo(InboxAnswer.Result.CHANGED);
            assertThat(bench.fence(id)).isEqualTo(fence + 2);
            assertThat(bench.anna().edit(-1, FIXED).result()).isEqualTo(InboxAnswer.Result.MISSING);
            assertThat(bench.operator.revisions(id))
                    .extracting(InboxRevision::number, InboxRevision::actor, InboxRevision::payloadBytes)
                    .containsExactly(
                            org.assertj.core.groups.Tuple.tuple(1, "anna", 6L),
                            org.assertj.core.groups.Tuple.tuple(2, "anna", 5L));
            assertThat(bench.operator.revisions(id).get(0).changes())
                    .isEqualTo(
                            "payload of 6 bytes → 5 bytes; header region set; header added set; header token removed");
            assertThat(bench.operator.payload(id, 1))
                    .hasValueSatisfying(b -> assertThat(b).isEqualTo(bytes("broken")));
            assertThat(bench.db.number("SELECT count(*) FROM idem_audit WHERE action = 'EDIT' AND actor = 'anna'"))
                    .isEqualTo(2);
            bench.anna().retry(id);
            bench.inbox.start(consumer);
            await().atMost(Duration.ofSeconds(30)).until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
            assertThat(handled.get("m1").payload()).isEqualTo(bytes("fixed again"));
            assertThat(handled.get("m1").headers())
                    .containsExactly(new Header("region", "eu"), new Header("trace", "t1"), new Header("added", "yes"));
            assertThat(bench.inbox.accept(consumer, original("m1"))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.inbox.accept(
                            consumer,
                            original("m1").toBuilder()
                                    .payload(bytes("fixed again"))
                                    .build()))
                    .as("its fingerprint is that of what was received")
                    .isInstanceOf(Outcome.Conflict.class);
            assertThat(handled).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 what a worker has now cannot be edited, and runs as it was")
    void busy(Database database) throws Exception {
        for (QueuePolicy way : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)))) {
            try (InboxBench bench = new InboxBench(database)) {
                CountDownLatch running = new CountDownLatch(1);
                CountDownLatch end = new CountDownLatch(1);
                Consumer consumer = Consumer.named("payments")
                        .queued(way.withWorkers(1))
                        .otherwise((message, tx) -> {
                            Db.pay(tx.connection(), new String(message.payload(), StandardCharsets.UTF_8));
                            running.countDown();
                            end.await(30, TimeUnit.SECONDS);
                            return null;
                        })
                        .build();
                bench.inbox.accept(consumer, original("m1"));
                long id = bench.operator.find("payments", "m1").orElseThrow();
                bench.inbox.start(consumer);
                assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
                assertThat(bench.anna().edit(id, FIXED).result()).isEqualTo(InboxAnswer.Result.BUSY);
                end.countDown();
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
                assertThat(bench.db.payments("broken")).isEqualTo(1);
                assertThat(bench.operator.revisions(id)).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 an edit that races a retry and its worker is either in what runs, or said not to be")
    void racesAWorker(Database database) throws Exception {
        race(database, QueuePolicy.inTransaction());
        race(database, QueuePolicy.leased(Duration.ofSeconds(30)));
    }

    private static void race(Database database, QueuePolicy way) throws Exception {
        try (InboxBench bench = new InboxBench(database)) {
            Map<String, String> handled = new ConcurrentHashMap<>();
            Consumer consumer = Consumer.named("payments")
                    .queued(way.withWorkers(2).withPoll(Duration.ofMillis(20)))
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        handled.put(message.id().orElseThrow(), new String(message.payload(), StandardCharsets.UTF_8));
                        return null;
                    })
                    .build();
            JdbcInbox shared = JdbcInbox.of(JdbcSchema.of(bench.db.pool(6)));
            for (int i = 0; i < 25; i++) {
                bench.inbox.accept(consumer, original("m" + i));
                bench.anna().park(bench.operator.find("payments", "m" + i).orElseThrow());
            }
            bench.inbox.start(consumer);
            for (int i = 0; i < 25; i++) {
                String name = "m" + i;
                long id = bench.operator.find("payments", name).orElseThrow();
                List<InboxAnswer> answers = Together.run(
                        2,
                        person -> person == 0
                                ? shared.as("a", "race").edit(id, FIXED)
                                : shared.as("b", "race").retry(id));
                if (answers.get(1).result() != InboxAnswer.Result.CHANGED) {
                    assertThat(shared.as("b", "race").retry(id).result()).isEqualTo(InboxAnswer.Result.CHANGED);
                }
                await().atMost(Duration.ofSeconds(30)).until(() -> handled.containsKey(name));
                boolean edited = answers.get(0).result() == InboxAnswer.Result.CHANGED;
                assertThat(handled.get(name)).as(name).isEqualTo(edited ? "fixed" : "broken");
            }
            await().atMost(Duration.ofSeconds(30)).until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
            assertThat(bench.db.payments()).isEqualTo(25);
        }
    }
}
