package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Position;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.broker.Relay;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.test.MemoryStore;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever way a message takes, what goes wrong with it is in the log. */
class SilenceTest {
    private static final String CANARY = "CANARY-4711";
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final RetryPolicy TWICE = RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2);
    private static final Policy REDACTED = Policy.defaults()
            .withUnusedTransaction(Policy.UnusedTransaction.ALLOW)
            .withRedaction(text -> text.replace(CANARY, "****"));

    private static Message message(String id) {
        return Message.builder()
                .id(id)
                .header("token", CANARY)
                .payload(CANARY.getBytes(StandardCharsets.UTF_8))
                .position(new Position("t", 0, Math.floorMod(id.hashCode(), 1_000)))
                .build();
    }

    private static Object fail(Message message) throws Exception {
        String id = message.id().orElseThrow();
        if (id.startsWith("bad")) {
            throw new TerminalException("no account of " + CANARY, new Exception("because of " + CANARY));
        }
        if (id.startsWith("ugly")) {
            throw new InvocationTargetException(new IllegalStateException("no table \"ordesr\" for " + CANARY));
        }
        return "";
    }

    private static List<String> incidents(CapturedLog log) {
        return log.warnings().stream()
                .filter(line -> line.contains(": message "))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "PostgreSQL"})
    @DisplayName("LV-17 inline and in batches: first failure, the end, rejection and conflict, on any store")
    void inline(String store) {
        Consumer consumer = Consumer.named("inline")
                .policy(REDACTED)
                .otherwise((message, tx) -> fail(message))
                .build();
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = store.equals("memory") ? Inbox.create(new MemoryStore()) : db.inbox(db.pool(4));
                CapturedLog log = CapturedLog.of(Inbox.class)) {
            inbox.accept(consumer, message("good"));
            inbox.accept(consumer, message("bad"));
            inbox.acceptAll(consumer, List.of(message("ugly"), message("bad2")));
            inbox.accept(consumer, message("ugly"));
            inbox.accept(
                    consumer, message("good").toBuilder().payload(new byte[1]).build());
            inbox.accept(consumer, message("x").toBuilder().id(null).build());
            assertThatThrownBy(() -> inbox.process("inline", message("thrown"), tx -> fail(message("ugly"))))
                    .as("what is thrown at the caller is the caller's to log")
                    .isInstanceOf(InvocationTargetException.class);
            assertThat(incidents(log))
                    .satisfiesExactly(
                            line -> assertSetAside(line, "inline: message bad is set aside (TERMINAL):"),
                            line -> assertThat(line)
                                    .startsWith("inline: message ugly failed, and is tried again:"
                                            + " java.lang.IllegalStateException: no table \"ordesr\" for **** at "),
                            line -> assertSetAside(line, "inline: message bad2 is set aside (TERMINAL):"),
                            line -> assertThat(line).startsWith("inline: message good is in conflict: another payload"),
                            line -> assertThat(line)
                                    .startsWith("inline: message at t-0@")
                                    .contains("is rejected (KEY_MISSING): the message has no id"));
            assertThat(String.join("\n", log.everything())).doesNotContain(CANARY);
        }
    }

    private static void assertSetAside(String line, String start) {
        assertThat(line)
                .startsWith(start + " dev.idem.TerminalException: no account of ****")
                .contains("Caused by: java.lang.Exception: because of ****", "\tat ");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "LV-17 a worker tells the first failure and the parking of a stored message, in a transaction and leased")
    void worker(boolean leased) {
        QueuePolicy policy =
                (leased ? QueuePolicy.leased(Duration.ofSeconds(30)) : QueuePolicy.inTransaction()).withRetry(TWICE);
        Consumer consumer = Consumer.named("stored")
                .policy(REDACTED)
                .queued(policy)
                .otherwise((message, tx) -> fail(message))
                .build();
        parks(consumer, "stored");
    }

    @Test
    @DisplayName("LV-17 so does a worker that handles step by step")
    void steps() {
        Consumer consumer = Consumer.named("steps")
                .policy(REDACTED)
                .queued(QueuePolicy.leased(Duration.ofSeconds(30)).withRetry(TWICE))
                .otherwiseSteps((message, steps) -> fail(message))
                .build();
        parks(consumer, "steps");
    }

    private static void parks(Consumer consumer, String name) {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(db.pool(8));
                CapturedLog log = CapturedLog.of(Inbox.class)) {
            inbox.acceptAll(consumer, List.of(message("bad"), message("ugly"), message("good")));
            inbox.start(consumer);
            await().atMost(SOON).until(() -> inbox.queueStats(name).parked() == 2);
            await().atMost(SOON).until(() -> incidents(log).size() >= 3);
            assertThat(incidents(log))
                    .satisfiesExactlyInAnyOrder(
                            line -> assertSetAside(
                                    line, name + ": message bad is parked (TERMINAL) after 1 failed run:"),
                            line -> assertThat(line)
                                    .startsWith(name + ": message ugly failed, and is tried again:"
                                            + " java.lang.IllegalStateException: no table \"ordesr\" for **** at ")
                                    .hasLineCount(1),
                            line -> assertThat(line)
                                    .startsWith(name + ": message ugly is parked (EXHAUSTED) after 2 failed runs:"
                                            + " java.lang.IllegalStateException: no table \"ordesr\" for ****")
                                    .contains("\tat "));
            assertThat(String.join("\n", log.everything())).doesNotContain(CANARY);
            assertThat(db.number("SELECT count(*) FROM idem_attempt WHERE error_type LIKE '%IllegalStateException'"))
                    .as("the row names the exception that matters, too")
                    .isEqualTo(2);
            assertThat(db.number("SELECT count(*) FROM idem_attempt WHERE convert_from(error, 'UTF8') LIKE '%CANARY%'"))
                    .isZero();
        }
    }

    @Test
    @DisplayName("LV-17 with marks, and of what the inbox keeps for a listener, each end is told once")
    void marksAndParking() {
        Consumer marks = Consumer.named("marks")
                .policy(REDACTED)
                .watermark()
                .otherwise((message, tx) -> fail(message))
                .build();
        Consumer parking = Consumer.named("parking")
                .policy(REDACTED)
                .parking(QueuePolicy.inTransaction())
                .otherwise((message, tx) -> fail(message))
                .build();
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(db.pool(4));
                CapturedLog log = CapturedLog.of(Inbox.class)) {
            inbox.accept(marks, message("bad"));
            Outcome.Failed<?> told = (Outcome.Failed<?>) inbox.accept(parking, message("bad"));
            inbox.park(parking, message("bad"), "FAILED", told.cause());
            inbox.park(parking, message("tired"), "EXHAUSTED", new IllegalStateException("no more of " + CANARY));
            assertThat(incidents(log))
                    .satisfiesExactly(
                            line -> assertSetAside(line, "marks: message bad is set aside (TERMINAL):"),
                            line -> assertSetAside(line, "parking: message bad is set aside (TERMINAL):"),
                            line -> assertThat(line)
                                    .startsWith("parking: message tired is parked (EXHAUSTED):"
                                            + " java.lang.IllegalStateException: no more of ****"));
        }
    }

    @Test
    @DisplayName("LV-17 a relay tells of a message that its broker refuses")
    void relay() {
        Outbox outbox = Outbox.named("shipments");
        Consumer orders = Consumer.named("orders")
                .publishesTo(outbox)
                .otherwise((message, tx) -> {
                    tx.publish(
                            "shipments", Message.builder().payload(new byte[9]).build());
                    return null;
                })
                .build();
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(db.pool(6));
                CapturedLog log = CapturedLog.of(Inbox.class)) {
            inbox.accept(orders, message("m"));
            inbox.start(Relay.of(
                    outbox,
                    messages -> Map.of(0, new TerminalException("too large", null)),
                    QueuePolicy.inTransaction()));
            await().atMost(SOON).until(() -> !incidents(log).isEmpty());
            assertThat(incidents(log).get(0))
                    .startsWith("outbox:shipments: message ")
                    .contains("is parked (TERMINAL) after 1 failed run: dev.idem.TerminalException: too large");
        }
    }
}
