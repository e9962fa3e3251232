package dev.idem.jdbc;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;

/** A process with little memory that handles a backlog. It ends by itself when the queue is empty. Arguments: the database, and
 * whether it takes leases. */
final class QueueHoard {
    static final String NAME = "hoard";

    private QueueHoard() {}

    static Consumer consumer(boolean leased) {
        QueuePolicy policy = leased ? QueuePolicy.leased(Duration.ofSeconds(30)) : QueuePolicy.inTransaction();
        return Consumer.named(NAME)
                .queued(policy.withWorkers(2).withBatch(100).withMaxBytes(8 << 20))
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow() + "/" + message.payload().length);
                    return null;
                })
                .build();
    }

    public static void main(String[] args) throws Exception {
        Inbox inbox = Inbox.create(JdbcStore.create(Db.plain(args[0])));
        inbox.start(consumer(Boolean.parseBoolean(args[1])));
        while (inbox.queueStats(NAME).pending() + inbox.queueStats(NAME).inProgress() > 0) {
            Thread.sleep(50);
        }
        inbox.close();
    }
}
