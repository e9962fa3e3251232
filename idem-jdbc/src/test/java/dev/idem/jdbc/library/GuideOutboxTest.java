package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.jdbc.JdbcStore;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/** The code of docs/outbox.md that needs no broker. */
class GuideOutboxTest {
    private final List<String> sent = new CopyOnWriteArrayList<>();

    /** A mail server that drops what has the id of a mail it has sent. */
    private final class Mails {
        void send(String id, byte[] text) {
            if (!sent.contains(id)) {
                sent.add(id);
            }
            assertThat(text).isNotEmpty();
        }
    }

    @Test
    void notificationIntents() throws Exception {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (Connection connection = dataSource.getConnection()) {
            connection.createStatement().execute("CREATE TABLE payment (order_id VARCHAR(50))");
        }
        Message message = Message.of("m-1", "order-1".getBytes(StandardCharsets.UTF_8));
        Mails mails = new Mails();
        Inbox inbox = Inbox.create(JdbcStore.create(dataSource));
        // region outbox-intent
        Outbox notifications = Outbox.named("notifications").unordered();
        Consumer payments = Consumer.named("payments")
                .publishesTo(notifications)
                .otherwise((order, tx) -> {
                    tx.defer(
                            "INSERT INTO payment (order_id) VALUES (?)",
                            order.id().orElseThrow());
                    tx.publish(
                            "notifications",
                            Message.of(tx.outputId("receipt"), "Thank you".getBytes(StandardCharsets.UTF_8)));
                })
                .build();
        Consumer sender = notifications
                .relay(QueuePolicy.leased(Duration.ofMinutes(2)).withWorkers(4))
                .otherwise((intent, tx) -> mails.send(
                        intent.id().orElseThrow(), intent.payload())) // the id is the key against a second mail
                .build();
        inbox.start(sender);
        // endregion
        assertThat(inbox.accept(payments, message)).isInstanceOf(Outcome.Processed.class);
        assertThat(inbox.accept(payments, message)).isInstanceOf(Outcome.Duplicate.class);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> inbox.queueStats("outbox:notifications").pending() == 0);
        assertThat(sent).hasSize(1);
        inbox.close();
    }
}
