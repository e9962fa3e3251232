package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.broker.Publisher;
import dev.idem.broker.Relay;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A publisher that throws for a whole list: whose fault is it? */
class RelayBlameTest {
    private static final QueuePolicy POLICY = QueuePolicy.inTransaction()
            .withWorkers(1)
            .withPoll(Duration.ofMillis(50))
            .withRetry(RetryPolicy.fixed(Duration.ofMillis(5)).withMaxAttempts(3));

    private final Db db = Db.fresh(Database.H2);
    private final Inbox inbox = db.inbox(db.pool(8));
    private final List<String> sent = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicBoolean away = new AtomicBoolean();

    @AfterEach
    void close() {
        inbox.close();
        db.close();
    }

    @Test
    @DisplayName(
            "RO-01 a few that nobody can send, and of which the publisher says nothing, are parked; the others go out")
    void guilty() {
        publish(30);
        relay(Set.of("m0", "m1", "m2", "m3", "m17"), payload -> new IOException("broken pipe"));
        AtomicInteger others = new AtomicInteger(); // without any, the last of them could be the broker's fault
        await().atMost(OutboxBench.LONG).until(() -> {
            publish("n" + others.incrementAndGet());
            return parked() == 5;
        });
        await().atMost(OutboxBench.LONG).until(() -> sent.size() == 25 + others.get());
        assertThat(sent).doesNotContain("m0", "m1", "m2", "m3", "m17");
        assertThat(db.number("SELECT count(*) FROM idem_queue WHERE reason = 'EXHAUSTED'"))
                .isEqualTo(5);
    }

    @Test
    @DisplayName("RO-01 one that comes alone each time is found out by those that are confirmed in between")
    void guiltyAlone() {
        publish(1);
        relay(Set.of("m0"), payload -> new IOException("broken pipe"));
        await().atMost(OutboxBench.LONG).until(() -> calls.get() >= 2);
        assertThat(parked()).isZero();
        for (int i = 1; parked() == 0; i++) {
            assertThat(i).isLessThan(50);
            publish("n" + i);
            int count = i;
            await().atMost(OutboxBench.LONG).until(() -> sent.size() == count || parked() == 1);
            int before = calls.get();
            await().atMost(OutboxBench.LONG).until(() -> calls.get() > before || parked() == 1);
        }
    }

    @Test
    @DisplayName("RO-01 what is refused for good is parked at once, by an exception that is thrown for all of them")
    void terminal() {
        publish(20);
        relay(Set.of("m4"), payload -> new TerminalException("too large", null));
        await().atMost(OutboxBench.LONG).until(() -> sent.size() == 19 && parked() == 1);
        assertThat(db.number("SELECT count(*) FROM idem_queue WHERE reason = 'TERMINAL' AND failed = 1"))
                .isEqualTo(1);
    }

    @Test
    @DisplayName("RO-02 a broker that is away is no message's fault, whatever is thrown, and is not stormed")
    void outage() throws Exception {
        for (Exception thrown : List.of(new IOException("refused"), new StoreException("refused", null))) {
            sent.clear();
            calls.set(0);
            away.set(true);
            String name = "away-" + thrown.getClass().getSimpleName();
            for (int i = 0; i < 40; i++) {
                publish(name + i);
            }
            try (Inbox relaying = db.inbox(db.pool(4))) {
                relaying.start(Relay.of(OutboxBench.SHIPMENTS, publisher(Set.of(), payload -> thrown), POLICY));
                Thread.sleep(3_000);
                assertThat(calls.get()).as("calls in three seconds").isBetween(1, 24);
                assertThat(db.number("SELECT count(*) FROM idem_attempt")).isZero();
                away.set(false);
                await().atMost(OutboxBench.LONG).until(() -> sent.size() >= 40);
                await().atMost(OutboxBench.LONG).until(() -> db.number("SELECT count(*) FROM idem_queue") == 0);
            }
        }
        assertThat(parked()).isZero();
    }

    private void relay(Set<String> guilty, Function<String, Exception> thrown) {
        inbox.start(Relay.of(OutboxBench.SHIPMENTS, publisher(guilty, thrown), POLICY));
    }

    /** Takes all or nothing, as a transaction does. */
    private Publisher publisher(Set<String> guilty, Function<String, Exception> thrown) {
        return messages -> {
            calls.incrementAndGet();
            List<String> payloads = messages.stream()
                    .map(m -> new String(m.payload(), StandardCharsets.UTF_8))
                    .toList();
            for (String payload : payloads) {
                if (away.get() || guilty.contains(payload)) {
                    throw thrown.apply(payload);
                }
            }
            payloads.stream().filter(p -> !sent.contains(p)).forEach(sent::add);
            return Map.of();
        };
    }

    private void publish(int count) {
        for (int i = 0; i < count; i++) {
            publish("m" + i);
        }
    }

    private void publish(String payload) {
        Consumer orders = OutboxBench.orders()
                .otherwise((order, tx) -> {
                    tx.publish("shipments", OutboxBench.shipment(order));
                    return null;
                })
                .build();
        inbox.accept(orders, OutboxBench.order(payload, "key of " + payload));
    }

    private long parked() {
        return inbox.queueStats("outbox:shipments").parked();
    }
}
