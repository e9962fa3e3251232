package dev.idem.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.RetryPolicy;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.LetterFilter;
import dev.idem.broker.LetterReplay;
import dev.idem.broker.Relay;
import dev.idem.broker.spi.DeliveryDecider;
import dev.idem.broker.spi.ListenerBuilder;
import dev.idem.jdbc.JdbcStore;
import dev.idem.queue.Outbox;
import dev.idem.servers.SkipWithoutServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/kafka.md. */
@Timeout(120)
@ExtendWith(SkipWithoutServer.class)
class KafkaDocsTest {
    @Test
    void theFirstListener() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            Inbox inbox = bed.inbox();
            String address = KafkaBed.server().address();
            var record = bed.record("k", "m1");
            record.headers().add("ce_type", KafkaBed.bytes("order-placed"));
            KafkaBed.send(record);
            String topic = bed.topic;
            // region kafka-listen
            Consumer billing = Consumer.named("billing")
                    .on("order-placed", PayloadDecoder.message(), (order, tx) -> {
                        try (var insert = tx.connection().prepareStatement("INSERT INTO effect (id) VALUES (?)")) {
                            insert.setString(1, order.id().orElseThrow());
                            return insert.executeUpdate();
                        }
                    })
                    .build();
            KafkaInboxListener listener = KafkaInbox.listen(
                    Map.of("bootstrap.servers", address, "group.id", "billing"), List.of(topic), billing, inbox);
            // endregion
            bed.awaitEffects(1);
            listener.close();
            bed.assertOnce(1);
        }
    }

    @Test
    void optionsAndReplay() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            Inbox inbox = bed.inbox();
            Consumer billing = KafkaBed.writer(message -> {});
            Map<String, Object> config = bed.config;
            KafkaBed.send(new ProducerRecord<>(bed.topic, KafkaBed.bytes("k"), KafkaBed.bytes("without an id")));
            List<String> audit = new ArrayList<>();
            // region kafka-options
            KafkaInboxListener listener = KafkaInbox.builder(config, List.of(bed.topic), billing, inbox)
                    .attributes(Attributes.defaults().idFrom("x-order-id"))
                    .retry(RetryPolicy.fixed(Duration.ofSeconds(1)).withMaxAttempts(5))
                    .parallelism(4)
                    .deadLetters(topic -> topic + ".failed")
                    .listen();
            // endregion
            bed.awaitSettled();
            listener.close();
            String failed = bed.topic + ".failed";
            // region kafka-replay
            try (DeadLetters letters = KafkaDeadLetters.open(config, failed, Set.of(bed.topic))) {
                LetterReplay.of(LetterFilter.all().consumer("payments"))
                        .as("anna", "the provider is back", (consumer, action, actor, why, what) -> audit.add(action))
                        .run(letters, progress -> {});
            }
            // endregion
            assertThat(audit).containsExactly("REPLAY", "REPLAYED");
            assertThat(bed.unsettled()).isEqualTo(1);
        }
    }

    @Test
    void aLoopOfYourOwn() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            Inbox inbox = bed.inbox();
            Consumer billing = KafkaBed.writer(message -> {});
            KafkaBed.send(bed.record("k", "m1"));
            KafkaBed.send(bed.record("k", "m1"));
            KafkaBed.send(new ProducerRecord<>(bed.topic, KafkaBed.bytes("k"), KafkaBed.bytes("without an id")));
            String topic = bed.topic;
            KafkaBed.createTopic(topic + ".dead-letters", 1);
            bed.config.putAll(Map.of("auto.offset.reset", "earliest", "enable.auto.commit", "false"));
            try (var consumer =
                            new KafkaConsumer<>(bed.config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
                    var producer = new KafkaProducer<>(
                            Map.<String, Object>of(
                                    "bootstrap.servers", KafkaBed.server().address()),
                            new ByteArraySerializer(),
                            new ByteArraySerializer())) {
                consumer.subscribe(List.of(topic));
                KafkaBed.until("all is settled", () -> {
                    // region kafka-own-loop
                    DeliveryDecider triage = new DeliveryDecider(billing, ListenerBuilder.DEFAULT_RETRY);
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                        Message message = KafkaMessages.reader().read(record);
                        Optional<DeadLetter> letter = triage.untilDecided(inbox, message);
                        if (letter.isPresent()) {
                            var aside = new ProducerRecord<>(topic + ".dead-letters", record.key(), record.value());
                            letter.get()
                                    .from(Map.of("topic", topic, "partition", "" + record.partition()))
                                    .headers(message)
                                    .forEach(header -> aside.headers().add(header.name(), header.value()));
                            producer.send(aside).get(); // the broker has it
                        }
                    }
                    consumer.commitSync();
                    // endregion
                    return bed.unsettled() == 0;
                });
            }
            bed.assertOnce(1);
            assertThat(bed.letters()).singleElement().satisfies(letter -> {
                assertThat(letter.about().reason()).isEqualTo("REJECTED");
                assertThat(letter.origin()).isEqualTo(topic);
            });
        }
    }

    @Test
    void aPipeline() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            String address = KafkaBed.server().address();
            String topic = bed.topic;
            String out = bed.topic + "-out";
            KafkaBed.createTopic(out, 1);
            Map<String, Object> receiving = Map.of("bootstrap.servers", address, "group.id", bed.group);
            KafkaInboxListener receiver =
                    KafkaInbox.listen(receiving, List.of(out), KafkaBed.writer(message -> {}), bed.inbox());
            var record = bed.record("k", "m1");
            record.headers().add("ce_type", KafkaBed.bytes("order-placed"));
            KafkaBed.send(record);
            KafkaBed.send(record);
            DataSource dataSource = bed.database();
            CompletableFuture<Void> shutdown = CompletableFuture.runAsync(() -> awaitEffects(bed, 2));
            // region kafka-pipeline
            Outbox shipments = Outbox.named("shipments");
            Consumer orders = Consumer.named("orders")
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
            Map<String, Object> client = Map.of("bootstrap.servers", address);
            Map<String, Object> group = Map.of("bootstrap.servers", address, "group.id", "orders");
            try (KafkaPublisher publisher = KafkaPublisher.to(out, client); // closed last
                    Inbox inbox = Inbox.create(JdbcStore.create(dataSource));
                    KafkaInboxListener listener = KafkaInbox.listen(group, List.of(topic), orders, inbox)) {
                inbox.start(Relay.of(shipments, publisher));
                shutdown.join(); // until the service is told to end
            }
            // endregion
            receiver.close();
            bed.assertOnce(2);
        }
    }

    private static void awaitEffects(KafkaBed bed, int count) {
        try {
            bed.awaitEffects(count);
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }
}
