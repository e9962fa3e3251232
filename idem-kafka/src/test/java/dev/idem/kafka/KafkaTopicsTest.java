package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.until;
import static dev.idem.kafka.KafkaBed.writer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.broker.ListenerState;
import dev.idem.servers.SkipWithoutServer;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Topics that are not there, go, and come again. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaTopicsTest {
    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "KF-11 a topic that is made again and grows beyond the old position at once: nothing of it is left out")
    void grownBeyondThePosition(String protocol) throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            if (protocol.equals("consumer")) {
                bed.config.remove("heartbeat.interval.ms");
                bed.config.put("group.protocol", protocol);
            }
            bed.config.put("metadata.max.age.ms", "60000"); // else the client may notice it in time
            bed.send(0, 30);
            KafkaInboxListener listener = bed.listen(writer(message -> {}));
            bed.awaitEffects(30);
            bed.awaitSettled();
            listener.pause();
            bed.remakeTopic();
            bed.send(100, 200);
            listener.resume();
            bed.awaitEffects(130);
            bed.awaitSettled();
            bed.assertOnce(130);
            assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "KF-11 a topic that is made again under a listener that polls, and grows beyond its position: nothing is left out")
    void grownUnderARunningListener(String protocol) throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            if (protocol.equals("consumer")) {
                bed.config.remove("heartbeat.interval.ms");
                bed.config.put("group.protocol", protocol);
            }
            bed.config.put("metadata.max.age.ms", "60000");
            bed.send(0, 30);
            KafkaInboxListener listener = bed.listen(writer(message -> {}));
            bed.awaitEffects(30);
            bed.awaitSettled();
            bed.remakeTopic();
            bed.send(100, 200);
            bed.awaitEffects(130);
            bed.awaitSettled();
            bed.assertOnce(130);
            until("it runs", () -> listener.state() == ListenerState.RUNNING);
            bed.send(200, 210);
            bed.awaitEffects(140);
            bed.awaitSettled();
            bed.assertOnce(140);
        }
    }

    @Test
    @DisplayName("KF-11 an offset that was committed for a topic that is gone says nothing about the one made again")
    void offsetOfTheOldTopic() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.send(0, 30);
            KafkaInboxListener first = bed.listen(writer(message -> {}));
            bed.awaitEffects(30);
            bed.awaitSettled();
            first.close();
            Map<TopicPartition, OffsetAndMetadata> old = KafkaBed.admin()
                    .listConsumerGroupOffsets(bed.group)
                    .partitionsToOffsetAndMetadata()
                    .get();
            bed.remakeTopic();
            bed.send(100, 200);
            KafkaBed.admin() // as a commit that was under way
                    .alterConsumerGroupOffsets(bed.group, old)
                    .all()
                    .get();
            bed.listen(writer(message -> {}));
            bed.awaitEffects(130);
            bed.awaitSettled();
            bed.assertOnce(130);
        }
    }

    @Test
    @DisplayName("a misspelt topic is waited for by name, gets no topic of dead letters, and holds up no other topic")
    void misspelt() throws Exception {
        String ordesr = "ordesr-" + UUID.randomUUID();
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.config.put("metadata.max.age.ms", "500");
            bed.send(0, 5);
            try (KafkaInboxListener one =
                            KafkaInbox.listen(bed.config, List.of(ordesr), writer(message -> {}), bed.inbox());
                    KafkaInboxListener both = KafkaInbox.listen(
                            Map.of("bootstrap.servers", KafkaBed.server().address(), "group.id", ordesr),
                            List.of(ordesr, bed.topic),
                            writer(message -> {}),
                            bed.inbox())) {
                bed.awaitEffects(5);
                for (KafkaInboxListener listener : List.of(one, both)) {
                    until("it waits", () -> listener.state() == ListenerState.WAITING);
                    assertThat(listener.waiting()).hasValueSatisfying(waiting -> {
                        assertThat(waiting.what()).isEqualTo("topic " + ordesr);
                        assertThat(waiting.why()).contains("UnknownTopicOrPartition");
                    });
                }
                assertThat(topics()).doesNotContain(ordesr + ".dead-letters").contains(bed.topic + ".dead-letters");
                KafkaBed.createTopic(ordesr, 1);
                until("it runs", () -> one.state() == ListenerState.RUNNING);
                assertThat(topics()).contains(ordesr + ".dead-letters");
                until("the other runs too", () -> both.state() == ListenerState.RUNNING);
            }
        }
    }

    private static Iterable<String> topics() throws Exception {
        return KafkaBed.admin().listTopics().names().get();
    }
}
