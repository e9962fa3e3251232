package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How messages go from an outbox to a broker that fails. */
class RelayTest {
    private static final Consumer ORDERS = OutboxBench.orders()
            .otherwise((order, tx) -> {
                tx.publish("shipments", OutboxBench.shipment(order));
                return null;
            })
            .build();

    private static void publish(OutboxBench bench, int count, int keys) {
        List<Message> orders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            orders.add(OutboxBench.order("m" + i, "k" + i % keys));
        }
        bench.inbox.acceptAll(ORDERS, orders);
    }

    private static String text(Message message) {
        return new String(message.payload(), StandardCharsets.UTF_8);
    }

    /** First publications, in their order: what a receiver that knows ids makes of it. */
    private static List<Integer> received(OutboxBench bench, int keys, int key) {
        return bench.payloads().stream()
                .distinct()
                .map(p -> Integer.parseInt(p.substring(1)))
                .filter(n -> n % keys == key)
                .toList();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-01 a broker that fails single messages: each key keeps its order, and nothing is lost")
    void partialFailures(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            bench.failing = message -> text(message).hashCode() % 5 == 0
                            && ThreadLocalRandom.current().nextInt(3) > 0
                    ? new IllegalStateException("not now")
                    : null;
            bench.relay(QueuePolicy.inTransaction()
                    .withWorkers(3)
                    .withBatch(20)
                    .withRetry(RetryPolicy.fixed(Duration.ofMillis(5)).withMaxAttempts(1000)));
            for (int i = 0; i < 3; i++) {
                publish(bench, 40, 4);
            }
            bench.awaitEmpty();
            for (int key = 0; key < 4; key++) {
                assertThat(received(bench, 4, key)).isSorted().hasSize(10);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-01 a message that the broker never takes is parked, and holds its own key alone")
    void refusedForGood(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            bench.failing = message -> text(message).equals("m4") ? new TerminalException("too large", null) : null;
            publish(bench, 30, 3);
            bench.relay();
            await().atMost(OutboxBench.LONG)
                    .until(() -> bench.inbox.queueStats("outbox:shipments").parked() == 1);
            await().atMost(OutboxBench.LONG)
                    .until(() ->
                            received(bench, 3, 0).size() + received(bench, 3, 2).size() == 20);
            assertThat(received(bench, 3, 1)).containsExactly(1);
            bench.failing = message -> null;
            JdbcInbox operator = JdbcInbox.of(JdbcSchema.of(bench.db.plain()));
            operator.as("anna", "made smaller")
                    .retryAll(
                            InboxFilter.all().withConsumer("outbox:shipments").withStates(QueueState.PARKED),
                            sum -> {});
            bench.awaitEmpty();
            assertThat(received(bench, 3, 1)).isSorted().hasSize(10);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a broker that is away costs no attempts, and everything is published when it is back")
    void outage(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            AtomicInteger refused = new AtomicInteger();
            bench.failing = message -> {
                refused.incrementAndGet();
                throw new StoreException("away", null);
            };
            publish(bench, 40, 5);
            bench.relay(QueuePolicy.inTransaction()
                    .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2)));
            await().atMost(OutboxBench.LONG).until(() -> refused.get() > 6);
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isZero();
            bench.failing = message -> null;
            bench.awaitEmpty();
            for (int key = 0; key < 5; key++) {
                assertThat(received(bench, 5, key)).isSorted().hasSize(8);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("an id that is published twice stands twice in the outbox, and both are relayed")
    void sameIdTwice(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            Consumer same = OutboxBench.orders()
                    .otherwise((order, tx) -> {
                        tx.publish("shipments", Db.message("s1"));
                        tx.publish("shipments", Db.message("s1"));
                        return null;
                    })
                    .build();
            bench.inbox.accept(same, Db.message("m1"));
            bench.relay();
            bench.awaitEmpty();
            assertThat(bench.ids()).containsExactly("s1", "s1");
        }
    }
}
