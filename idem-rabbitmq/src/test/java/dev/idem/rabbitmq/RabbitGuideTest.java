package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DeliverCallback;
import com.rabbitmq.client.Delivery;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.LetterFilter;
import dev.idem.broker.LetterReplay;
import dev.idem.broker.MessageReader;
import dev.idem.broker.Relay;
import dev.idem.broker.spi.DeliveryDecider;
import dev.idem.broker.spi.ListenerBuilder;
import dev.idem.jdbc.JdbcStore;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.Audit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
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
            RabbitInboxListener listener = RabbitInbox.listen(factory, orders, billing, inbox);
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
                Channel channel = connection.createChannel();
                Channel letters = connection.createChannel()) {
            letters.confirmSelect();
            Inbox inbox = scene.inbox;
            Consumer billing = scene.single(message -> {});
            String orders = scene.bench.queue;
            // region rabbit-own-loop
            MessageReader<Delivery> reader = RabbitMessages.reader()
                    .typeFrom(delivery -> delivery.getEnvelope().getRoutingKey());
            DeliveryDecider triage = new DeliveryDecider(billing, ListenerBuilder.DEFAULT_RETRY);
            channel.basicQos(1); // what waits here holds up the others
            DeliverCallback consume = (tag, delivery) -> {
                Message message = reader.read(delivery);
                Optional<DeadLetter> letter = triage.untilDecided(inbox, message);
                if (letter.isPresent()) {
                    Map<String, Object> headers = new HashMap<>();
                    letter.get()
                            .from(Map.of("queue", orders))
                            .headers(message)
                            .forEach(header -> headers.put(header.name(), header.text()));
                    AMQP.BasicProperties aside =
                            delivery.getProperties().builder().headers(headers).build();
                    letters.basicPublish("", orders + ".dead-letters", true, aside, delivery.getBody());
                    confirmed(letters); // the broker has it
                }
                channel.basicAck(delivery.getEnvelope().getDeliveryTag(), false);
            };
            channel.basicConsume(orders, false, consume, tag -> {});
            // endregion
            scene.bench.with(declaring -> declaring.queueDeclare(orders + ".dead-letters", true, false, false, null));
            scene.bench.send(0, 5);
            scene.bench.send(0, 5);
            scene.bench.send(new AMQP.BasicProperties(), "without an id");
            scene.awaitEachOnce(5);
            assertThat(scene.runs).allSatisfy(run -> assertThat(run.type()).contains(orders));
            Scene.until("the letter is there", () -> scene.letters().size() == 1);
            assertThat(scene.letters())
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.origin()).isEqualTo(orders));
        }
    }

    private static void confirmed(Channel channel) throws IOException {
        try {
            channel.waitForConfirmsOrDie(10_000);
        } catch (InterruptedException | TimeoutException unconfirmed) {
            throw new IOException(unconfirmed);
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
                    RabbitInboxListener listener = RabbitInbox.listen(factory, queue, orders, inbox)) {
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
