package dev.idem.jms;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.broker.Relay;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.queue.Outbox;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import jakarta.jms.ConnectionFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** From an outbox into a queue, and out of it, while the broker dies. */
@ExtendWith(SkipWithoutServer.class)
@Timeout(240)
class JmsPublisherTest {
    private static final Duration LONG = Duration.ofSeconds(90);

    private final List<Message> handled = Collections.synchronizedList(new ArrayList<>());

    @Test
    @DisplayName("the broker is killed and started again: each output is handled once, over both protocols")
    void killedBroker() throws Exception {
        HikariConfig config = new HikariConfig();
        PostgresServer server = PostgresServer.shared();
        config.setJdbcUrl(server.jdbcUrl(server.createDatabase()));
        try (Artemis artemis = new Artemis();
                HikariDataSource pool = new HikariDataSource(config);
                Inbox inbox = Inbox.create(
                        JdbcStore.builder(pool).schemaMode(SchemaMode.CREATE).build())) {
            for (ConnectionFactory factory : List.of(artemis.core(), artemis.amqp())) {
                round(artemis, factory, inbox, "shipments-" + handled.size());
            }
        }
    }

    private void round(Artemis artemis, ConnectionFactory factory, Inbox inbox, String name) throws Exception {
        int before = handled.size();
        Outbox outbox = Outbox.named(name);
        Consumer orders = Consumer.named("orders-" + name)
                .publishesTo(outbox)
                .otherwise((order, tx) -> {
                    tx.publish(
                            name,
                            Message.builder()
                                    .type("shipped")
                                    .orderingKey("k")
                                    .header("trace-id", "t")
                                    .payload(order.payload())
                                    .build());
                    return null;
                })
                .build();
        Consumer receiver = Consumer.named("receiver-" + name)
                .otherwise((shipment, tx) -> {
                    tx.connection().createStatement().execute("SELECT 1");
                    handled.add(shipment);
                    return null;
                })
                .build();
        try (JmsPublisher publisher = JmsPublisher.toQueue(factory, name);
                JmsInboxListener listener = JmsInbox.builder(factory, name, receiver, inbox)
                        .keepOrder()
                        .listen()) {
            inbox.start(Relay.of(outbox, publisher));
            for (int i = 0; i < 40; i++) {
                inbox.accept(orders, Message.of("m" + i, new byte[] {(byte) i}));
                if (i == 20) {
                    artemis.kill();
                }
            }
            artemis.restart();
            await().atMost(LONG)
                    .until(() -> handled.size() - before >= 40
                            && inbox.queueStats(outbox.consumer()).pending() == 0);
            List<Message> mine = List.copyOf(handled.subList(before, handled.size()));
            assertThat(mine.stream().map(m -> (int) m.payload()[0]).distinct().toList())
                    .isSorted()
                    .hasSize(40);
            assertThat(mine)
                    .allMatch(m -> m.type().orElseThrow().equals("shipped")
                            && m.orderingKey().orElseThrow().equals("k")
                            && m.source().orElseThrow().equals("orders-" + name)
                            && m.header(Outbox.CAUSATION_ID).orElseThrow().equals("m" + m.payload()[0]));
            assertThat(mine.stream().map(m -> m.id().orElseThrow()).distinct()).hasSize(40);
            await().atMost(LONG).until(() -> listener.settled() >= 40);
        }
    }
}
