package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.TerminalException;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of an ordering key whose head is parked. */
class ParkedKeyTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-07 with PARK the rest of the key is parked with its head, later arrivals wait, other keys go on")
    void theRestIsParked(Database database) {
        List<QueuePolicy> ways = List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)));
        for (QueuePolicy way : ways) {
            try (InboxBench bench = new InboxBench(database)) {
                AtomicBoolean broken = new AtomicBoolean(true);
                QueuePolicy policy = way.withOrderByKey().withWhenParked(QueuePolicy.WhenParked.PARK);
                Consumer consumer = Consumer.named("payments")
                        .queued(policy)
                        .otherwise((message, tx) -> {
                            String id = message.id().orElseThrow();
                            Db.pay(tx.connection(), id);
                            if (id.equals("a2") && broken.get()) {
                                throw new TerminalException("not this one", null);
                            }
                            return null;
                        })
                        .build();
                List<Long> ids = bench.store(policy, "a1", "a2", "a3", "a4", "b1", "b2");
                bench.inbox.start(consumer);
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 4") == 3
                                && bench.db.payments() == 3);
                assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE reason = 'BEHIND' AND status = 4"))
                        .isEqualTo(2);
                long later = bench.store(policy, "a5").get(0);
                assertThat(bench.state(later)).isEqualTo(QueueState.HELD);

                broken.set(false);
                InboxFilter key = InboxFilter.all().withConsumer("payments").withOrderingKey("a");
                assertThat(bench.anna().retryAll(key, sum -> {}).changed()).isEqualTo(3);
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
                assertThat(bench.db.payments()).isEqualTo(7);
                assertThat(ids).hasSize(6);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-07 with HOLD the rest stays held, and goes on when the head is skipped")
    void theRestIsHeld(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            Consumer consumer = Consumer.named("payments")
                    .queued(InboxBench.ORDERED)
                    .otherwise((message, tx) -> {
                        if (message.id().orElseThrow().equals("a1")) {
                            throw new TerminalException("not this one", null);
                        }
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        return null;
                    })
                    .build();
            List<Long> ids = bench.store(InboxBench.ORDERED, "a1", "a2", "a3");
            bench.inbox.start(consumer);
            await().atMost(Duration.ofSeconds(20)).until(() -> bench.state(ids.get(0)) == QueueState.PARKED);
            assertThat(bench.state(ids.get(1))).isEqualTo(QueueState.HELD);
            bench.anna().skip(ids.get(0));
            await().atMost(Duration.ofSeconds(20)).until(() -> bench.db.payments() == 2);
        }
    }
}
