package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.batch.BatchHandler;
import dev.idem.batch.BatchTransaction;
import dev.idem.queue.QueuePolicy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * A queue in tables of its own that is as deep as asked, and one worker who claims and completes from it. What its handler
 * does besides is next to nothing, so that claiming is what is measured.
 */
public final class QueueDepth {
    private static final String FILL = """
            INSERT INTO %1$squeue (consumer, message_key, stored_at, due_at, status, message_type, head, payload)
            SELECT consumer, gen_random_uuid(), n.at + i, 0, 0, message_type, head, payload
            FROM %1$stemplate,
              (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) - 3600000000 AS at) n,
              generate_series(1, ?) i ORDER BY i
            """;

    private final DataSource dataSource;
    private final String prefix;
    private final int depth;

    public QueueDepth(DataSource dataSource, String prefix, int depth) {
        this.dataSource = dataSource;
        this.prefix = prefix;
        this.depth = depth;
    }

    /** Lets one message be stored, whose row all others are copied from. */
    public void create() throws SQLException {
        try (Inbox inbox = inbox()) {
            Consumer consumer = consumer((requests, tx) -> {});
            String id = UUID.randomUUID().toString();
            Outcome<?> outcome = inbox.accept(consumer, new Delivery(id, "depth", 1, true, false, 0, 0).message());
            if (!(outcome instanceof Outcome.Stored)) {
                throw new IllegalStateException("Not stored: " + outcome);
            }
        }
        Sql.execute(
                dataSource,
                "CREATE TABLE " + prefix + "template AS SELECT consumer, message_type, head, payload FROM " + prefix
                        + "queue");
    }

    /** Fills up what was completed, and tidies up as a server does that has been running for long. */
    public void fill() throws SQLException {
        long missing = depth - Sql.number(dataSource, "SELECT count(*) FROM " + prefix + "queue");
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert = connection.prepareStatement(FILL.formatted(prefix))) {
            insert.setInt(1, Math.toIntExact(missing));
            insert.executeUpdate();
        }
        Sql.execute(dataSource, "VACUUM ANALYZE " + prefix + "queue", "CHECKPOINT");
    }

    /** How many messages a second are claimed and completed, over so many of them. */
    public double perSecond(int messages) throws Exception {
        var clock = new Clock(messages);
        try (Inbox inbox = inbox()) {
            inbox.start(consumer(clock::handle));
            return clock.rate.get(1, TimeUnit.MINUTES);
        }
    }

    private Inbox inbox() {
        return new IdemSetup("idem", dataSource, prefix, List.of()).inbox();
    }

    private static Consumer consumer(BatchHandler<PaymentRequest> handler) {
        return IdemSetup.consumer()
                .queued(QueuePolicy.inTransaction().withWorkers(1))
                .onAll(Delivery.TYPE, PaymentRequest::decode, handler)
                .build();
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%squeue: %,d messages", prefix, depth);
    }

    /** From one call of the handler to a later one, so that whole rounds of claiming and completing lie between. */
    private static final class Clock {
        private static final int FIRST_CALLS = 3;

        private final CompletableFuture<Double> rate = new CompletableFuture<>();
        private final int wanted;
        private int calls;
        private long began;
        private long counted;

        private Clock(int wanted) {
            this.wanted = wanted;
        }

        private synchronized void handle(List<PaymentRequest> requests, BatchTransaction tx) throws SQLException {
            if (calls++ == FIRST_CALLS) {
                began = System.nanoTime();
            } else if (calls > FIRST_CALLS && counted >= wanted) {
                rate.complete(counted * 1e9 / (System.nanoTime() - began));
            }
            counted += calls > FIRST_CALLS ? requests.size() : 0;
            Payments.payAll(tx.connection(), requests.subList(0, 1));
        }
    }
}
