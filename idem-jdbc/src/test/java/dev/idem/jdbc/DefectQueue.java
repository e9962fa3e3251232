package dev.idem.jdbc;

import static dev.idem.jdbc.DefectSql.edited;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.broker.Publisher;
import dev.idem.broker.Relay;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.FaultPoint;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.awaitility.core.ConditionTimeoutException;

/** Defects of stored messages: with the real statements, and with one of them changed. */
final class DefectQueue {
    private static final Duration POLL = Duration.ofMillis(20);
    private static final Outbox SHIPMENTS = Outbox.named("shipments");
    private static final long HOUR_MICROS = 3_600_000_000L;

    private DefectQueue() {}

    /** The one that was stored first commits late, and the other of its key has run by then. */
    static DefectReport receiversTakeNoTurns(Db db, boolean planted) throws Exception {
        List<String> done = new CopyOnWriteArrayList<>();
        Consumer consumer = Consumer.named("orders")
                .queued(QueuePolicy.inTransaction().withOrderByKey().withPoll(POLL))
                .otherwise((message, tx) -> {
                    tx.nothingToDo();
                    return done.add(message.id().orElseThrow());
                })
                .build();
        UnaryOperator<DataSource> plant = source -> withoutTurns(db, source, planted);
        try (Inbox workers = db.inbox(db.pool(6))) {
            workers.start(consumer);
            race(db, plant, done, inbox -> message -> inbox.accept(consumer, message));
        }
        return DefectReport.wrongIf(!done.equals(List.of("m1", "m2")));
    }

    /** The same with two handlers that publish. */
    static DefectReport publishersTakeNoTurns(Db db, boolean planted) throws Exception {
        List<String> done = new CopyOnWriteArrayList<>();
        Publisher broker = messages -> {
            messages.forEach(m -> done.add(new String(m.payload(), StandardCharsets.UTF_8)));
            return Map.of();
        };
        Consumer orders = Consumer.named("orders")
                .publishesTo(SHIPMENTS)
                .otherwise((order, tx) -> {
                    tx.publish("shipments", order.toBuilder().id(null).build());
                    return "";
                })
                .build();
        UnaryOperator<DataSource> plant = source -> withoutTurns(db, source, planted);
        try (Inbox relay = db.inbox(db.pool(6))) {
            relay.start(Relay.of(SHIPMENTS, broker, QueuePolicy.inTransaction().withPoll(POLL)));
            race(db, plant, done, inbox -> message -> inbox.accept(orders, message));
        }
        return DefectReport.wrongIf(!done.equals(List.of("m1", "m2")));
    }

    private static DataSource withoutTurns(Db db, DataSource source, boolean planted) {
        return db.kind() == Database.POSTGRESQL
                ? edited(source, planted, "pg_advisory_xact_lock(?, s)", "coalesce(?, s)")
                : edited(source, planted, "ORDER BY stripe FOR UPDATE", "ORDER BY stripe");
    }

    private static void race(
            Db db, UnaryOperator<DataSource> plant, List<String> done, Function<Inbox, Function<Message, ?>> door)
            throws Exception {
        CountDownLatch written = new CountDownLatch(1);
        CountDownLatch commit = new CountDownLatch(1);
        try (Inbox late = Inbox.builder(db.store(plant.apply(db.pool(3))))
                        .steps((step, key) -> {
                            if (step == FaultPoint.BEFORE_COMMIT) {
                                written.countDown();
                                awaited(commit);
                            }
                        })
                        .build();
                Inbox quick = db.inbox(plant.apply(db.pool(3)))) {
            CompletableFuture<?> first =
                    CompletableFuture.supplyAsync(() -> door.apply(late).apply(keyed("m1")));
            Together.await(written);
            CompletableFuture<?> second =
                    CompletableFuture.supplyAsync(() -> door.apply(quick).apply(keyed("m2")));
            StepBench.until(() -> !done.isEmpty() || isBlocked(db));
            commit.countDown();
            first.get(30, TimeUnit.SECONDS);
            second.get(30, TimeUnit.SECONDS);
            StepBench.until(() -> done.size() == 2);
        }
    }

    private static void awaited(CountDownLatch latch) {
        try {
            Together.await(latch);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isBlocked(Db db) {
        try {
            db.awaitBlocked(1, Duration.ofMillis(200));
            return true;
        } catch (ConditionTimeoutException nobody) {
            return false;
        }
    }

    private static Message keyed(String id) {
        return Message.builder()
                .id(id)
                .orderingKey("k")
                .payload(id.getBytes(StandardCharsets.UTF_8))
                .build();
    }

    /** "Due now" is the time of the clock, which is set back by an hour afterwards. */
    static DefectReport dueNowByTheClock(Db db, boolean planted) {
        long before = (System.currentTimeMillis() * 1_000) + HOUR_MICROS;
        DataSource source = edited(db.pool(6), planted, "THEN NULL ELSE 0 END", "THEN NULL ELSE " + before + " END");
        Consumer consumer = paying(QueuePolicy.inTransaction().withPoll(POLL));
        try (Inbox inbox = db.inbox(source)) {
            inbox.start(consumer);
            inbox.accept(consumer, Db.message("a"));
            StepBench.until(() -> db.payments("a") == 1
                    || db.number("SELECT count(*) FROM idem_queue WHERE due_at = " + before) == 1);
        }
        return DefectReport.of(db, "a");
    }

    /** A message is done long after its receipt, and its marker is as old as that. */
    static DefectReport windowFromTheReceipt(Db db, boolean planted) {
        DataSource source =
                edited(db.pool(6), planted, "SET marked_at = CURRENT_TIMESTAMP(6)", "SET marked_at = marked_at");
        Consumer consumer = paying(QueuePolicy.inTransaction().withPoll(POLL));
        long seconds = History.WINDOW.plusHours(1).toSeconds();
        try (Inbox inbox = db.inbox(source)) {
            inbox.accept(consumer, Db.message("a"));
            db.execute(
                    "UPDATE idem_marker SET marked_at = DATEADD(SECOND, -" + seconds + ", CURRENT_TIMESTAMP)",
                    "UPDATE idem_queue SET stored_at = stored_at - " + seconds * 1_000_000);
            inbox.start(consumer);
            StepBench.until(() -> db.payments("a") == 1);
            StepBench.until(() -> db.number("SELECT count(*) FROM idem_queue") == 0);
            JdbcRetention.of(JdbcSchema.of(db.plain())).run(List.of(), progress -> {});
            inbox.accept(consumer, Db.message("a"));
            StepBench.until(() -> db.number("SELECT count(*) FROM idem_queue") == 0);
        }
        return DefectReport.of(db, "a");
    }

    /** A handler throws an Error again and again, and nobody counts. */
    static DefectReport errorsNotCounted(Db db, boolean planted) {
        AtomicInteger runs = new AtomicInteger();
        Consumer consumer = Consumer.named("payments")
                .queued(QueuePolicy.inTransaction()
                        .withPoll(POLL)
                        .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2)))
                .otherwise((message, tx) -> {
                    runs.incrementAndGet();
                    throw new InternalError("on purpose");
                })
                .build();
        DataSource started = edited(db.pool(6), planted, "started ELSE started + ? END", "started ELSE 0 * ? END");
        DataSource source = edited(started, planted, "failed = failed + ?", "failed = 0 * ?");
        try (Inbox inbox = db.inbox(source)) {
            inbox.accept(consumer, Db.message("a"));
            inbox.start(consumer);
            StepBench.until(
                    () -> runs.get() > 20 || inbox.queueStats("payments").parked() == 1);
            return DefectReport.wrongIf(inbox.queueStats("payments").parked() == 0);
        }
    }

    private static Consumer paying(QueuePolicy policy) {
        return Consumer.named("payments")
                .queued(policy)
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return "";
                })
                .build();
    }
}
