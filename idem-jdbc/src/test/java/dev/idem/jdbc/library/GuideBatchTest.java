package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Position;
import dev.idem.Settlement;
import dev.idem.jdbc.JdbcStore;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The snippets of the guide's chapter on many messages at once. */
class GuideBatchTest {
    private final JdbcDataSource dataSource = new JdbcDataSource();

    @BeforeEach
    void tables() throws Exception {
        dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (Connection connection = dataSource.getConnection()) {
            connection.createStatement().execute("CREATE TABLE payment (order_id VARCHAR(50))");
        }
    }

    @Test
    void batches() throws Exception {
        List<Message> messages = messages();
        List<Message> dead = new ArrayList<>();
        List<Message> again = new ArrayList<>();
        try (Inbox inbox = Inbox.create(JdbcStore.create(dataSource))) {
            // region deferred
            Consumer payments = Consumer.named("payments")
                    .on(
                            "OrderPlaced",
                            GuideBatchTest::order,
                            (order, tx) -> tx.defer("INSERT INTO payment (order_id) VALUES (?)", order))
                    .build();
            // endregion
            // region accept-all
            List<Outcome<?>> outcomes = inbox.acceptAll(payments, messages);
            for (int i = 0; i < messages.size(); i++) {
                Settlement settlement = outcomes.get(i).settlement(); // each message has its own
                if (settlement == Settlement.DEAD_LETTER) {
                    dead.add(messages.get(i));
                } else if (settlement == Settlement.RETRY) {
                    again.add(messages.get(i));
                }
            }
            // endregion
        }
        assertThat(dead).isEmpty();
        assertThat(again).isEmpty();
        assertThat(payments()).isEqualTo(messages.size());
    }

    @Test
    void batchHandlers() throws Exception {
        // region batch-handler
        Consumer payments = Consumer.named("payments")
                .onAll("OrderPlaced", GuideBatchTest::order, (orders, tx) -> {
                    try (PreparedStatement insert =
                            tx.connection().prepareStatement("INSERT INTO payment (order_id) VALUES (?)")) {
                        for (String order : orders) {
                            insert.setString(1, order);
                            insert.addBatch();
                        }
                        insert.executeBatch();
                    }
                })
                .build();
        // endregion
        try (Inbox inbox = Inbox.create(JdbcStore.create(dataSource))) {
            assertThat(inbox.acceptAll(payments, messages())).allMatch(o -> o.settlement() == Settlement.ACK);
        }
        assertThat(payments()).isEqualTo(messages().size());
    }

    @Test
    void watermarks() throws Exception {
        try (Inbox inbox = Inbox.create(JdbcStore.create(dataSource))) {
            // region watermark
            Consumer payments = Consumer.named("payments")
                    .watermark()
                    .otherwise((message, tx) -> tx.defer("INSERT INTO payment (order_id) VALUES (?)", order(message)))
                    .build();
            Message message = Message.builder()
                    .position(new Position("cluster-1/topic-id-4711", 3, 42))
                    .payload("order-42".getBytes(StandardCharsets.UTF_8))
                    .build();
            // endregion
            assertThat(inbox.accept(payments, message)).isInstanceOf(Outcome.Processed.class);
            assertThat(inbox.accept(payments, message)).isInstanceOf(Outcome.Duplicate.class);
        }
        assertThat(payments()).isEqualTo(1);
    }

    private static String order(Message message) {
        return new String(message.payload(), StandardCharsets.UTF_8);
    }

    private static List<Message> messages() {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            messages.add(Message.builder()
                    .id("m-" + i)
                    .type("OrderPlaced")
                    .payload(("order-" + i).getBytes(StandardCharsets.UTF_8))
                    .build());
        }
        return messages;
    }

    private long payments() throws Exception {
        try (Connection connection = dataSource.getConnection();
                ResultSet rows = connection.createStatement().executeQuery("SELECT count(*) FROM payment")) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
