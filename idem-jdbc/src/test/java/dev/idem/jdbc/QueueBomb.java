package dev.idem.jdbc;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;

/** A process with a handler that ends it. It ends by itself when the message was parked. Arguments: the
 * database, and whether it takes leases. */
final class QueueBomb {
    private QueueBomb() {}

    static Consumer consumer(boolean leased) {
        QueuePolicy policy = leased ? QueuePolicy.leased(Duration.ofMillis(500)) : QueuePolicy.inTransaction();
        return Consumer.named("bombs")
                .queued(policy.withWorkers(1)
                        .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2)))
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    if (message.id().orElseThrow().equals("bomb")) {
                        Runtime.getRuntime().halt(7);
                    }
                    return null;
                })
                .build();
    }

    public static void main(String[] args) throws Exception {
        Inbox inbox = Inbox.create(JdbcStore.create(Db.plain(args[0])));
        inbox.start(consumer(Boolean.parseBoolean(args[1])));
        while (inbox.queueStats("bombs").parked() == 0) {
            Thread.sleep(50);
        }
        inbox.close();
    }
}
