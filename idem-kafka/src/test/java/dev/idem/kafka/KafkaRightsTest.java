package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.until;
import static org.apache.kafka.common.acl.AclPermissionType.DENY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.broker.ListenerState;
import dev.idem.servers.KafkaServer;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.test.MemoryStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A broker that asks who may do what. */
@Timeout(120)
@ExtendWith(SkipWithoutServer.class)
class KafkaRightsTest {
    private static KafkaServer server;
    private static Admin admin;
    private static KafkaProducer<byte[], byte[]> producer;

    @BeforeAll
    static void startBroker() {
        server = KafkaServer.start(Map.of(
                "authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "allow.everyone.if.no.acl.found", "true"));
        Map<String, Object> client = Map.of("bootstrap.servers", server.address());
        admin = Admin.create(client);
        producer = new KafkaProducer<>(client, new ByteArraySerializer(), new ByteArraySerializer());
    }

    @AfterAll
    static void stopBroker() {
        if (server != null) {
            admin.close();
            producer.close();
            server.close();
        }
    }

    private static void send(String topic) throws Exception {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, KafkaBed.bytes("payload"));
        record.headers().add("ce_id", KafkaBed.bytes("m" + System.nanoTime()));
        producer.send(record).get();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "a right that is missing is waited for, in the broker's words; when it is granted, it goes on by itself")
    void missingRights(String protocol) throws Exception {
        String topic = "orders-" + protocol;
        admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
        AclBinding group = denied(ResourceType.GROUP, protocol);
        AclBinding reading = denied(ResourceType.TOPIC, topic);
        admin.createAcls(List.of(group)).all().get();
        AtomicInteger handled = new AtomicInteger();
        Consumer consumer = Consumer.named("billing")
                .otherwise((message, tx) -> handled.incrementAndGet())
                .build();
        Map<String, Object> config = new HashMap<>();
        config.putAll(Map.of("bootstrap.servers", server.address(), "group.id", protocol, "group.protocol", protocol));
        send(topic);
        try (Inbox inbox = Inbox.create(new MemoryStore());
                KafkaInboxListener listener = KafkaInbox.listen(config, List.of(topic), consumer, inbox)) {
            awaitWaiting(listener, "GroupAuthorization");
            grant(group);
            until("it is handled", () -> handled.get() == 1);
            until("it runs", () -> listener.state() == ListenerState.RUNNING);
            admin.createAcls(List.of(reading)).all().get();
            awaitWaiting(listener, "TopicAuthorization");
            grant(reading);
            send(topic);
            until("the next is handled", () -> handled.get() == 2);
            until("it runs again", () -> listener.state() == ListenerState.RUNNING);
            assertThat(listener.failure()).isEmpty();
        }
    }

    private static AclBinding denied(ResourceType type, String name) {
        return new AclBinding(
                new ResourcePattern(type, name, PatternType.LITERAL),
                new AccessControlEntry("User:*", "*", AclOperation.READ, DENY));
    }

    private static void grant(AclBinding binding) throws Exception {
        admin.deleteAcls(List.of(binding.toFilter())).all().get();
    }

    private static void awaitWaiting(KafkaInboxListener listener, String word) throws Exception {
        until("it waits", () -> listener.state() == ListenerState.WAITING);
        assertThat(listener.waiting())
                .hasValueSatisfying(waiting -> assertThat(waiting.why()).contains(word));
    }
}
