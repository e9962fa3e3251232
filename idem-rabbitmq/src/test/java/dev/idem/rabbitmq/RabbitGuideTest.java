package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DeliverCallback;
import com.rabbitmq.client.Delivery;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outbox;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.QueuePolicy;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.LetterFilter;
import dev.idem.broker.LetterReplay;
import dev.idem.broker.MessageReader;
import dev.idem.broker.Relay;
import dev.idem.broker.Triage;
import dev.idem.jdbc.JdbcStore;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.Audit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What docs/rabbitmq.md shows. */
@Timeout(120)
@ExtendWith(SkipWithoutServer.class)
class RabbitGuideTest {
    @Test
    void listenAndReplay() throws Exception {
        try (Scene scene = new Scene()) {
            AtomicBoolean broken = new AtomicBoolean(true);
            Consumer billing = scene.single(message -> {
                if (broken.get()) {
                    throw new TerminalException("not yet", null);
                }
            });
            scene.bench.send(0, 1);
            ConnectionFactory factory = scene.bench.factory;
            Inbox inbox = scene.inbox;
            String orders = scene.bench.queue;
            // region rabbit-listen
            RabbitListener listener = RabbitInbox.listen(factory, orders, billing, inbox);
            // endregion
            Scene.until("it is set aside", () -> scene.letters().size() == 1);
            broken.set(false);
            List<String> audited = new ArrayList<>();
            Audit audit = (consumer, action, actor, reason, detail) -> audited.add(action);
            // region rabbit-replay
            try (DeadLetters letters = RabbitDeadLetters.open(factory, orders + ".dead-letters")) {
                LetterReplay.of(LetterFilter.all())
                        .as("anna", "the provider is back", audit)
                        .run(letters, progress -> {});
            }
            // endregion
            scene.awaitEachOnce(1);
            assertThat(audited).containsExactly("REPLAY", "REPLAYED");
            listener.close();
        }
    }

    @Test
    void aConsumerOfYourOwn() throws Exception {
        try (Scene scene = new Scene();
                Connection connection = scene.bench.factory.newConnection();
                Channel channel = connection.createChannel()) {
            Inbox inbox = scene.inbox;
            Consumer billing = scene.single(message -> {});
            String orders = scene.bench.queue;
            // region rabbit-own-loop
            MessageReader<Delivery> reader = RabbitMessages.reader()
                    .typeFrom(delivery -> delivery.getEnvelope().getRoutingKey());
            Triage triage = new Triage(billing, RetryPolicy.fixed(Duration.ofSeconds(1)));
            DeliverCallback consume = (tag, delivery) -> {
                long number = delivery.getEnvelope().getDeliveryTag();
                Outcome<?> outcome = inbox.accept(billing, reader.read(delivery));
                Triage.Decision decision = triage.decide(outcome, 0);
                if (decision instanceof Triage.Decision.Acknowledge) {
                    channel.basicAck(number, false);
                } else if (decision instanceof Triage.Decision.SetAside) {
                    channel.basicReject(number, false); // to the dead-letter exchange of the queue
                } else {
                    channel.basicReject(number, true); // comes again, at once
                }
            };
            channel.basicConsume(orders, false, consume, tag -> {});
            // endregion
            scene.bench.send(0, 5);
            scene.bench.send(0, 5);
            scene.awaitEachOnce(5);
            assertThat(scene.runs).allSatisfy(run -> assertThat(run.type()).contains(orders));
        }
    }

    @Test
    void aPipeline() throws Exception {
        try (Scene scene = new Scene()) {
            ConnectionFactory factory = scene.bench.factory;
            DataSource dataSource = scene.database;
            String queue = scene.bench.queue;
            String out = queue + ".out";
            scene.bench.with(channel -> channel.queueDeclare(out, true, false, false, null));
            scene.bench.send(Bench.id("m1").type("order-placed").build(), "order-1");
            scene.bench.send(Bench.id("m1").type("order-placed").build(), "order-1");
            CompletableFuture<Void> shutdown = CompletableFuture.runAsync(() -> awaitMessage(scene, out));
            // region rabbit-pipeline
            Outbox shipments = Outbox.named("shipments");
            Consumer orders = Consumer.named("orders")
                    .queued(QueuePolicy.inTransaction())
                    .publishesTo(shipments)
                    .on("order-placed", PayloadDecoder.text(), (order, tx) -> {
                        tx.defer("INSERT INTO effect (id) VALUES (?)", order);
                        tx.publish(
                                "shipments",
                                Message.builder()
                                        .type("shipment-requested")
                                        .orderingKey(order)
                                        .payload(tx.message().payload())
                                        .build());
                    })
                    .build();
            try (RabbitPublisher publisher = RabbitPublisher.toQueue(factory, out); // closed last
                    Inbox inbox = Inbox.create(JdbcStore.create(dataSource));
                    RabbitListener listener = RabbitInbox.listen(factory, queue, orders, inbox)) {
                inbox.start(orders, Relay.of(shipments, publisher)); // the workers of both
                shutdown.join(); // until the service is told to end
            }
            // endregion
            scene.awaitEachOnce(1);
            assertThat(scene.bench.server.messages(out)).isEqualTo(1);
            scene.bench.with(channel -> channel.queueDelete(out));
        }
    }

    private static void awaitMessage(Scene scene, String queue) {
        try {
            Scene.until("a message in " + queue, () -> scene.bench.server.messages(queue) == 1);
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }
}
