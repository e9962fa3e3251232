package dev.idem.cli.demo;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.RetryPolicy;
import dev.idem.Transaction;
import dev.idem.jdbc.JdbcStore;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueStats;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/** The payment consumer with Idem's durable inbox: a message is acknowledged when it is stored, and charged by workers. */
final class QueuedSeat implements Seat {
    static final String CONSUMER = "payments";
    private static final int ATTEMPTS = 4;
    private static final Duration RETRY = Duration.ofMillis(100);
    private static final long LOOK_MILLIS = 50;

    private final Inbox inbox;
    private final Consumer consumer;
    private final Charges charges;
    private final Set<Long> receivedHere = ConcurrentHashMap.newKeySet();

    QueuedSeat(DataSource dataSource, Charges charges) {
        this.charges = charges;
        inbox = Inbox.create(JdbcStore.create(dataSource));
        consumer = Consumer.named(CONSUMER)
                .queued(QueuePolicy.inTransaction()
                        .withWorkers(ConsumerMain.WORKERS)
                        .withBatch(10)
                        .withRetry(RetryPolicy.fixed(RETRY)
                                .on(Declined.class, RetryPolicy.fixed(RETRY).withMaxAttempts(ATTEMPTS))))
                .otherwise((message, tx) -> charge(Delivery.of(message), tx))
                .build();
        inbox.start(consumer);
    }

    /** Dies where the plan wants it once only: the stored message still says so when the next process handles it. */
    private String charge(Delivery delivery, Transaction tx) throws SQLException {
        return charges.charge(
                tx.connection(), receivedHere.contains(delivery.tag()) ? delivery : delivery.withoutWindow());
    }

    @Override
    public Answer.Settled take(Delivery delivery) {
        receivedHere.add(delivery.tag());
        Outcome<?> outcome = inbox.accept(consumer, delivery.toMessage());
        return new Answer.Settled(delivery.tag(), outcome.settlement(), outcome instanceof Outcome.Duplicate);
    }

    /** Everything is acknowledged, but not yet charged. */
    @Override
    public void close() {
        try {
            while (!isWorkedOff(inbox.queueStats(CONSUMER))) {
                Thread.sleep(LOOK_MILLIS);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        inbox.close();
    }

    private static boolean isWorkedOff(QueueStats stats) {
        return stats.pending() + stats.inProgress() + stats.held() == 0;
    }
}
