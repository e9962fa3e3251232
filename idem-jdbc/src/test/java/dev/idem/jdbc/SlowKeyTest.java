package dev.idem.jdbc;

import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SlowKeyTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-10 a key whose handler is slow keeps one worker, and the other keys flow on")
    void othersFlowOn(Database database) {
        QueuePolicy leased = QueuePolicy.leased(Duration.ofSeconds(30));
        // On H2 a long handler in one transaction holds up other keys, which docs/inbox.md says.
        List<QueuePolicy> ways =
                database == Database.H2 ? List.of(leased) : List.of(QueuePolicy.inTransaction(), leased);
        for (QueuePolicy way : ways) {
            CountDownLatch mayEnd = new CountDownLatch(1);
            QueuePolicy policy = way.withOrderByKey().withWorkers(2).withBatch(1);
            try (InboxBench bench = new InboxBench(database)) {
                Consumer consumer = Consumer.named("payments")
                        .queued(policy)
                        .otherwise((message, tx) -> {
                            if (message.orderingKey().orElseThrow().equals("s")) {
                                mayEnd.await();
                            }
                            Db.pay(tx.connection(), message.id().orElseThrow());
                            return null;
                        })
                        .build();
                bench.store(policy, "s1", "s2", "a1", "b1", "a2", "b2", "c1", "d1");
                bench.inbox.start(consumer);
                await().atMost(Duration.ofSeconds(20)).until(() -> bench.db.payments() == 6);
                mayEnd.countDown();
                await().atMost(Duration.ofSeconds(20)).until(() -> bench.db.payments() == 8);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("an interrupt that a handler leaves behind ends no worker")
    void interruptsOfHandlers(Database database) {
        QueuePolicy policy = QueuePolicy.inTransaction().withWorkers(1).withBatch(1);
        try (InboxBench bench = new InboxBench(database)) {
            Consumer consumer = Consumer.named("payments")
                    .queued(policy)
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        Thread.currentThread().interrupt();
                        return null;
                    })
                    .build();
            bench.store(policy, "a1", "b1", "c1");
            bench.inbox.start(consumer);
            await().atMost(Duration.ofSeconds(20)).until(() -> bench.db.payments() == 3);
        }
    }
}
