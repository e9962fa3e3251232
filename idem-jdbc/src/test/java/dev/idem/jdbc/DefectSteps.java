package dev.idem.jdbc;

import static dev.idem.jdbc.DefectSql.edited;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySpec;
import dev.idem.replay.Replayer;
import dev.idem.steps.StepHandler;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Defects around steps, their ledger and replay sessions: with the real statements, and with one of them changed. */
final class DefectSteps {
    private static final QueuePolicy LEASED = QueuePolicy.leased(StepBench.LEASE)
            .withWorkers(2)
            .withBatch(1)
            .withPoll(Duration.ofMillis(20))
            .withRetry(RetryPolicy.fixed(Duration.ofMillis(1)).withMaxAttempts(5));

    private DefectSteps() {}

    /** A type whose handler has no steps any more begins from the beginning what is half done. */
    static DefectReport halfDoneOverlooked(Db db, boolean planted) {
        Consumer stepwise = Consumer.named("orders")
                .queued(LEASED)
                .otherwiseSteps((message, steps) -> {
                    steps.step("reserve", tx -> Db.pay(tx.connection(), "a"));
                    throw new TerminalException("to be continued", null);
                })
                .build();
        Consumer plain = Consumer.named("orders")
                .queued(LEASED)
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), "a");
                    return null;
                })
                .build();
        try (Inbox inbox = Inbox.create(db.store(db.pool(6)))) {
            inbox.accept(stepwise, Db.message("a"));
            inbox.start(stepwise);
            StepBench.until(() -> db.number("SELECT count(*) FROM idem_queue WHERE status = 4") == 1);
        }
        db.execute("UPDATE idem_queue SET status = 0, started = 0, failed = 0, due_at = 1, fence = fence + 1");
        DataSource source = edited(db.pool(6), planted, "place <> -1 AND message_key", "place < -1 AND message_key");
        try (Inbox inbox = Inbox.create(db.store(source))) {
            inbox.start(plain);
            StepBench.until(() -> db.number("SELECT count(*) FROM idem_queue WHERE status < 4") == 0);
        }
        return DefectReport.of(db, "a");
    }

    /** Two sessions have found nothing in the ledger, and the second writes its intent over that of the first. */
    static DefectReport intentOverAnothers(Db db, boolean planted) {
        CyclicBarrier bothHaveRead = new CyclicBarrier(2);
        AtomicInteger entered = new AtomicInteger();
        StepHandler<Message> charging = (message, steps) -> {
            if (entered.incrementAndGet() <= 2) {
                bothHaveRead.await(30, TimeUnit.SECONDS);
            }
            steps.effect("charge", key -> {
                try (Connection connection = DriverManager.getConnection(db.url())) {
                    Db.pay(connection, "a");
                }
            });
        };
        Consumer consumer = Consumer.named("orders")
                .queued(LEASED)
                .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
                .otherwiseSteps(charging)
                .build();
        DataSource source = edited(db.pool(8), planted, "AND name = ? FOR UPDATE", "AND name = ? AND 1 = 0 FOR UPDATE");
        try (Inbox inbox = Inbox.create(db.store(source))) {
            inbox.register(consumer);
            for (String session : new String[] {"july", "august"}) {
                JdbcReplays.of(JdbcSchema.of(db.plain()))
                        .as("anna", "a test")
                        .start(session, "orders", ReplaySpec.of("given"));
                inbox.accept(
                        consumer,
                        Db.message("a").toBuilder().replaySession(session).build());
            }
            inbox.start(consumer);
            StepBench.until(() -> db.number("SELECT count(*) FROM idem_queue WHERE status < 4") == 0);
        }
        return DefectReport.of(db, "a");
    }

    /** The session brings what the clock calls older than itself; but the clock was put back. */
    static DefectReport sessionBoundByTheClock(Db db, boolean planted) {
        Consumer consumer = ReplayBench.paying(Policy.Replay.ALLOWED)
                .queued(QueuePolicy.inTransaction()
                        .withPoll(Duration.ofMillis(20))
                        .withPayloadWindow(Duration.ofDays(1)))
                .build();
        DataSource source = edited(
                db.plain(), planted, "sessions < (SELECT ordinal FROM", "completed_at <= (SELECT created_at FROM");
        try (Inbox inbox = Inbox.create(db.store(db.pool(6)))) {
            inbox.start(consumer);
            inbox.accept(consumer, Db.message("a"));
            StepBench.until(() -> db.payments("a") == 1);
            StepBench.until(() -> db.number("SELECT count(*) FROM idem_queue") == 0);
            db.execute("UPDATE idem_archive SET completed_at = completed_at + 2000000", "DELETE FROM payment");
            JdbcReplays replays = JdbcReplays.of(JdbcSchema.of(db.plain()));
            replays.as("anna", "a test").start("rebuild", "payments", ReplaySpec.of("stored"));
            try (Replayer replayer = Replayer.builder(inbox)
                    .consumer(consumer)
                    .source(JdbcReplays.stored(JdbcSchema.of(source)))
                    .poll(Duration.ofMillis(20))
                    .start()) {
                StepBench.until(() -> replays.status("rebuild").orElseThrow().state() == ReplaySession.State.DONE);
                StepBench.until(() -> db.number("SELECT count(*) FROM idem_queue") == 0);
            }
        }
        return DefectReport.of(db, "a");
    }
}
