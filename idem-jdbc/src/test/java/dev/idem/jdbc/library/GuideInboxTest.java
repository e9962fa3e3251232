package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.JdbcStore;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueStats;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/** The snippets of the page on the durable inbox. */
class GuideInboxTest {
    private final JdbcDataSource dataSource = new JdbcDataSource();

    @Test
    void queued() throws Exception {
        dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (Connection connection = dataSource.getConnection()) {
            connection.createStatement().execute("CREATE TABLE payment (order_id VARCHAR(50))");
        }
        Message message = Message.builder()
                .id("m-1")
                .type("OrderPlaced")
                .payload("order-1".getBytes(StandardCharsets.UTF_8))
                .build();
        // region queued
        Consumer payments = Consumer.named("payments")
                .queued(QueuePolicy.inTransaction().withWorkers(4).withOrderByKey())
                .on(
                        "OrderPlaced",
                        PayloadDecoder.text(),
                        (order, tx) -> tx.defer("INSERT INTO payment (order_id) VALUES (?)", order))
                .build();
        Inbox inbox = Inbox.create(JdbcStore.create(dataSource));
        inbox.start(payments); // the workers; they stop when the inbox is closed
        Outcome<?> outcome = inbox.accept(payments, message); // Stored, or Duplicate: acknowledge
        // endregion
        assertThat(outcome).isInstanceOf(Outcome.Stored.class);
        // region numbers
        QueueStats stats = inbox.queueStats("payments");
        boolean healthy = stats.parked() == 0
                && stats.stale() == 0
                && stats.oldestPending().orElse(Duration.ZERO).compareTo(Duration.ofMinutes(1)) < 0;
        // endregion
        assertThat(healthy).isTrue();
        await().atMost(Duration.ofSeconds(20)).until(() -> {
            try (Connection connection = dataSource.getConnection();
                    ResultSet rows = connection.createStatement().executeQuery("SELECT count(*) FROM payment")) {
                return rows.next() && rows.getInt(1) == 1;
            }
        });
        inbox.close();
    }

    @Test
    void parking() throws Exception {
        dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (Inbox inbox = Inbox.create(JdbcStore.create(dataSource))) {
            // region parking
            Consumer payments = Consumer.named("payments")
                    .parking(QueuePolicy.inTransaction())
                    .on(
                            "OrderPlaced",
                            PayloadDecoder.text(),
                            (order, tx) -> tx.defer("INSERT INTO payment (order_id) VALUES (?)", order))
                    .build();
            inbox.start(payments); // the workers that handle what a person retries
            // endregion
            Message message = Message.builder().id("m-1").type("OrderPlaced").build();
            assertThat(inbox.accept(payments, message)) // there is no such table
                    .isInstanceOf(Outcome.Failed.class);
        }
    }

    @Test
    void policies() {
        // region retry
        RetryPolicy retry = RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofMinutes(10))
                .withMaxAttempts(10)
                .on(IOException.class, RetryPolicy.fixed(Duration.ofMinutes(1)).withMaxAttempts(100));
        QueuePolicy calls = QueuePolicy.leased(Duration.ofMinutes(2))
                .withRetry(retry)
                .withIntakeCap(100_000)
                .withRedaction(text -> text.replaceAll("\\d{13,19}", "…"));
        // endregion
        assertThat(calls.isLeased()).isTrue();
        assertThat(calls.retry().maxAttempts()).isEqualTo(10);
    }
}
