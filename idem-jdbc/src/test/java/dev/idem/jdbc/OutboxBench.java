package dev.idem.jdbc;

import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.broker.Publisher;
import dev.idem.broker.Relay;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.FaultHook;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A database, an outbox, and a broker that keeps what it is given, or fails what it is told to. */
final class OutboxBench implements AutoCloseable, Publisher {
    static final Duration LONG = Duration.ofSeconds(40);
    static final Outbox SHIPMENTS = Outbox.named("shipments");

    final Db db;
    final Inbox inbox;
    final List<Message> published = Collections.synchronizedList(new ArrayList<>());
    volatile Failing failing = message -> null;

    OutboxBench(Database database) {
        this(database, FaultHook.NONE);
    }

    OutboxBench(Database database, FaultHook steps) {
        db = Db.fresh(database);
        inbox = Inbox.builder(db.store(db.pool(8))).steps(steps).build();
    }

    @FunctionalInterface
    interface Failing {
        Exception failure(Message message);
    }

    /** Writes a payment and publishes one shipment for each message, of the same ordering key. */
    static Consumer.Builder orders() {
        return Consumer.named("orders").publishesTo(SHIPMENTS);
    }

    static Message shipment(Message order) {
        return Message.builder()
                .type("shipped")
                .orderingKey(order.orderingKey().orElse(null))
                .payload(order.payload())
                .build();
    }

    static Message order(String id, String key) {
        return Db.message(id).toBuilder().orderingKey(key).build();
    }

    void relay(QueuePolicy policy) {
        inbox.start(Relay.of(SHIPMENTS, this, policy));
    }

    void relay() {
        relay(QueuePolicy.inTransaction().withPoll(Duration.ofMillis(200)));
    }

    @Override
    public Map<Integer, Exception> publish(List<Message> messages) {
        Map<Integer, Exception> failed = new LinkedHashMap<>();
        for (int i = 0; i < messages.size(); i++) {
            Exception failure = failing.failure(messages.get(i));
            if (failure == null) {
                published.add(messages.get(i));
            } else {
                failed.put(i, failure);
            }
        }
        return failed;
    }

    List<String> payloads() {
        synchronized (published) {
            return published.stream()
                    .map(m -> new String(m.payload(), java.nio.charset.StandardCharsets.UTF_8))
                    .toList();
        }
    }

    List<String> ids() {
        synchronized (published) {
            return published.stream().map(m -> m.id().orElseThrow()).toList();
        }
    }

    long rows() {
        return db.number("SELECT count(*) FROM idem_queue");
    }

    void awaitEmpty() {
        await().atMost(LONG).until(() -> rows() == 0);
    }

    @Override
    public void close() {
        inbox.close();
        db.close();
    }
}
