package dev.idem.jms;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.StoreException;
import dev.idem.broker.Relay;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import jakarta.jms.ConnectionFactory;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A message that the broker does not take spoils the transaction of all that are sent with it: who is to blame? */
@ExtendWith(SkipWithoutServer.class)
@Timeout(180)
class JmsRefusalTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static Artemis artemis;

    @BeforeAll
    static void startBroker() throws Exception {
        artemis = new Artemis();
    }

    @AfterAll
    static void stopBroker() throws Exception {
        artemis.close();
    }

    @Test
    @DisplayName(
            "RO-01 a message that the broker cannot store is parked, and those around it are sent, over its own protocol")
    void tooLarge() throws Exception {
        parked(artemis.core(), "core");
    }

    @Test
    @DisplayName("RO-01 a message that the broker cannot store is parked, and those around it are sent, over AMQP")
    void tooLargeForAmqp() throws Exception {
        parked(artemis.amqp(), "amqp");
    }

    private void parked(ConnectionFactory factory, String name) throws Exception {
        HikariConfig config = new HikariConfig();
        PostgresServer server = PostgresServer.shared();
        config.setJdbcUrl(server.jdbcUrl(server.createDatabase()));
        Outbox outbox = Outbox.named("refused-" + name);
        Consumer orders = Consumer.named("orders")
                .publishesTo(outbox)
                .otherwise((order, tx) -> {
                    for (int i = 0; i < 10; i++) {
                        tx.publish(outbox.name(), i == 3 ? unstorable() : Message.of("m" + i, new byte[10]));
                    }
                    return null;
                })
                .build();
        QueuePolicy quick = QueuePolicy.inTransaction()
                .withWorkers(1)
                .withRetry(RetryPolicy.fixed(Duration.ofMillis(10)).withMaxAttempts(3));
        try (HikariDataSource pool = new HikariDataSource(config);
                Inbox inbox = Inbox.create(
                        JdbcStore.builder(pool).schemaMode(SchemaMode.CREATE).build());
                JmsPublisher publisher = JmsPublisher.toQueue(factory, outbox.name())) {
            inbox.accept(orders, Message.of("order", new byte[0]));
            inbox.start(Relay.of(outbox, publisher, quick));
            await().atMost(LONG).until(() -> artemis.messages(outbox.name()) >= 9);
            for (int i = 0; inbox.queueStats(outbox.consumer()).parked() == 0; i++) {
                inbox.accept(healthy(outbox), Message.of("n" + i, new byte[0]));
                Thread.sleep(500);
                assertThat(i).isLessThan(60);
            }
            await().atMost(LONG).until(() -> inbox.queueStats(outbox.consumer()).pending() == 0);
        }
    }

    private static Consumer healthy(Outbox outbox) {
        return Consumer.named("healthy")
                .publishesTo(outbox)
                .otherwise((order, tx) -> {
                    tx.publish(outbox.name(), Message.of(order.id().orElseThrow(), new byte[1]));
                    return null;
                })
                .build();
    }

    /** Large payloads go to files of their own, but properties must fit into a record of the journal. */
    private static Message unstorable() {
        return Message.builder().id("m3").header("h", "x".repeat(2_000_000)).build();
    }

    @Test
    @DisplayName("a queue that does not exist, and that using it does not make, is waited for, and the error says so")
    void unknownQueue() {
        for (ConnectionFactory factory : List.of(artemis.core(), artemis.amqp())) {
            try (JmsPublisher publisher = JmsPublisher.toQueue(factory, ArtemisMain.CLOSED + "nowhere")) {
                assertThatThrownBy(() -> publisher.publish(List.of(Message.of("a", new byte[1]))))
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("Create it");
            }
        }
    }
}
