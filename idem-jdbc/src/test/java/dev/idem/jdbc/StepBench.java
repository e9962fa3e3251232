package dev.idem.jdbc;

import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.WakeUp;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySpec;
import dev.idem.steps.EffectPolicy;
import dev.idem.steps.StepHandler;
import dev.idem.steps.Steps;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;

/** A consumer with steps on a database of its own. */
public final class StepBench implements AutoCloseable {
    static final Duration LEASE = Duration.ofMinutes(1);

    final Db db;
    private final Inbox door;
    private final DataSource pool;

    StepBench(Database database) {
        db = Db.fresh(database);
        pool = db.pool(8);
        door = Inbox.create(quick(pool));
    }

    static Consumer consumer(StepHandler<Message> handler) {
        return consumer(QueuePolicy.leased(LEASE), Policy.defaults(), handler);
    }

    static Consumer consumer(QueuePolicy queue, Policy policy, StepHandler<Message> handler) {
        return Consumer.named("orders")
                .queued(queue.withWorkers(1)
                        .withPoll(Duration.ofMillis(50))
                        .withRetry(RetryPolicy.fixed(Duration.ofMillis(1)).withMaxAttempts(5)))
                .policy(policy.withMaxRuns(2))
                .otherwiseSteps(handler)
                .build();
    }

    /** Reserve, charge the card, book: each leaves a row or a charge to count. */
    static void order(Steps steps, EffectPolicy<String> policy, FakeProvider provider) throws Exception {
        String id = steps.message().id().orElseThrow();
        String reserved = steps.step("reserve", ResultCodec.text(), tx -> {
            Db.pay(tx.connection(), id + "-reserved");
            return "reserved " + id;
        });
        String receipt = steps.effect("charge", policy, ResultCodec.text(), provider::charge);
        steps.step("book", tx -> Db.pay(tx.connection(), id + "-booked"));
        if (!reserved.equals("reserved " + id) || !receipt.startsWith("receipt of idem_")) {
            throw new AssertionError("stored results are " + reserved + " and " + receipt);
        }
    }

    /** A store without a connection that listens. */
    JdbcStore quick(DataSource source) {
        return JdbcStore.builder(source)
                .schemaMode(SchemaMode.CREATE)
                .wakeUp(WakeUp.POLL)
                .build();
    }

    void store(Consumer consumer, String id) {
        store(consumer, Db.message(id));
    }

    void store(Consumer consumer, Message message) {
        door.accept(consumer, message);
    }

    /** A replay that somebody has asked for; its messages are stored by hand. */
    void session(String name) {
        door.register(Consumer.of("orders"));
        JdbcReplays.of(JdbcSchema.of(pool)).as("anna", "a test").start(name, "orders", ReplaySpec.of("stored"));
    }

    Inbox start(Consumer consumer, InboxListener... listeners) {
        return start(pool, consumer, listeners);
    }

    Inbox start(DataSource source, Consumer consumer, InboxListener... listeners) {
        Inbox.Builder builder = Inbox.builder(quick(source)).drain(Duration.ofSeconds(5));
        for (InboxListener listener : listeners) {
            builder.listener(listener);
        }
        Inbox inbox = builder.build();
        inbox.start(consumer);
        return inbox;
    }

    /** Runs it until nothing is left to do. */
    void runThrough(Consumer consumer, InboxListener... listeners) {
        try (Inbox inbox = start(consumer, listeners)) {
            until(this::isQuiet);
        }
    }

    /** Whoever has leases has been away for too long. */
    void letLeasesRunOut() {
        db.execute("UPDATE idem_queue SET due_at = 1 WHERE status = 1");
    }

    /** Nothing is waiting, failing or running. */
    boolean isQuiet() {
        return db.number("SELECT count(*) FROM idem_queue WHERE status < 4") == 0;
    }

    boolean isParked(String reason) {
        return db.number("SELECT count(*) FROM idem_queue WHERE status = 4 AND reason = '" + reason + "'") == 1;
    }

    void retryParked() {
        db.execute("UPDATE idem_queue SET status = 0, started = 0, failed = 0, due_at = 1, fence = fence + 1"
                + " WHERE status = 4");
    }

    public static void until(BooleanSupplier condition) {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .until(condition::getAsBoolean);
    }

    @Override
    public void close() {
        door.close();
        db.close();
    }
}
