package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession.State;
import dev.idem.replay.ReplaySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How a message came, and what it belongs to, is known wherever it is handled: stored, tried again, retried, replayed. */
class CarriedHeadersTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    /** As the reader of an adapter makes it. */
    private static final Message ARRIVED = Message.builder()
            .id("m-1")
            .source("shop")
            .type("paid")
            .orderingKey("k")
            .contentType("application/json")
            .eventTime(Instant.parse("2026-01-02T03:04:05.678Z"))
            .payload(new byte[] {1, 0, -1})
            .header("own", "1")
            .header("own", "2")
            .header(Outbox.CORRELATION_ID, "c-1")
            .header(Outbox.CAUSATION_ID, "order-0")
            .header(DeliveryHeaders.TOPIC, "orders")
            .header(DeliveryHeaders.QUEUE, "billing")
            .header(DeliveryHeaders.EXCHANGE, "events")
            .header(DeliveryHeaders.ROUTING_KEY, "eu.orders")
            .header(DeliveryHeaders.PRIORITY, "7")
            .header(DeliveryHeaders.EXPIRES, "2027-01-02T03:04:05Z")
            .header(DeliveryHeaders.TIME_TO_LIVE, "600000")
            .build();

    private final Queue<Message> seen = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean failing = new AtomicBoolean();

    private Consumer consumer(QueuePolicy way) {
        return Consumer.named("payments")
                .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
                .queued(way.withPayloadWindow(Duration.ofDays(1))
                        .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2)))
                .otherwise((message, tx) -> {
                    tx.nothingToDo();
                    seen.add(message);
                    if (failing.get()) {
                        throw new IllegalStateException("is tried again, and then parked");
                    }
                })
                .build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "a stored message has its correlation and its delivery headers in each run, after a retry by hand, and replayed")
    void carried(Database database) {
        for (QueuePolicy way : List.of(
                QueuePolicy.inTransaction(),
                QueuePolicy.leased(Duration.ofSeconds(30)).withOrderByKey())) {
            seen.clear();
            failing.set(true);
            try (ReplayBench bench = new ReplayBench(database)) {
                Consumer consumer = consumer(way);
                bench.inbox.accept(consumer, ARRIVED);
                bench.inbox.start(consumer);
                await().atMost(SOON)
                        .until(() -> bench.inbox.queueStats("payments").parked() == 1);
                JdbcInbox person = JdbcInbox.of(JdbcSchema.of(bench.db.plain()));
                long id = bench.db.number("SELECT id FROM idem_queue");
                int failed = seen.size();
                assertThat(failed).isGreaterThanOrEqualTo(2);
                failing.set(false);
                assertThat(person.as("anna", "again").retry(id).result()).isEqualTo(InboxAnswer.Result.CHANGED);
                await().atMost(SOON).until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
                bench.replayer(consumer);
                bench.anna().start("again", "payments", ReplaySpec.of("stored"));
                bench.awaited("again", State.DONE);
                await().atMost(SOON).until(() -> seen.size() == failed + 2);
                assertThat(seen).allSatisfy(CarriedHeadersTest::assertAsItArrived);
                assertThat(seen)
                        .last()
                        .satisfies(
                                replayed -> assertThat(replayed.replaySession()).contains("again"));
            }
        }
    }

    private static void assertAsItArrived(Message message) {
        assertThat(message.correlationId()).contains("c-1");
        assertThat(message.causationId()).contains("order-0");
        assertThat(message.header(DeliveryHeaders.ROUTING_KEY)).contains("eu.orders");
        assertThat(message.headers()).containsExactlyElementsOf(ARRIVED.headers());
        assertThat(message.source()).isEqualTo(ARRIVED.source());
        assertThat(message.contentType()).isEqualTo(ARRIVED.contentType());
        assertThat(message.eventTime()).isEqualTo(ARRIVED.eventTime());
        assertThat(message.payload()).isEqualTo(ARRIVED.payload());
    }
}
