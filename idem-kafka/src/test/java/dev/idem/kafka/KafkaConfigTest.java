package dev.idem.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.test.MemoryStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is refused before anything is started, and what is filled in. */
@Tag("quick")
class KafkaConfigTest {
    private static final Map<String, Object> GOOD = Map.of("bootstrap.servers", "127.0.0.1:1", "group.id", "g");

    @Test
    @DisplayName("KF-05 auto-commit is refused at start")
    void autoCommit() {
        refused(with("enable.auto.commit", "true"), "enable.auto.commit");
        refused(with("enable.auto.commit", true), "enable.auto.commit");
    }

    @Test
    @DisplayName("KF-08 deserializers that could fail are refused at start")
    void deserializers() {
        String strings = "org.apache.kafka.common.serialization.StringDeserializer";
        refused(with("value.deserializer", strings), "value.deserializer");
        refused(with("key.deserializer", strings), "key.deserializer");
    }

    @Test
    void aGroupIsNeeded() {
        refused(Map.of("bootstrap.servers", "127.0.0.1:1"), "group.id");
        refused(Map.of("group.id", "g"), "bootstrap.servers");
    }

    @Test
    void deadLettersCannotGoWhereTheyCameFrom() {
        assertThatThrownBy(() -> builder(GOOD).deadLetters("orders").listen())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("orders");
    }

    @Test
    @DisplayName("KF-15 only committed records are read, from the beginning, unless it is said otherwise")
    void defaults() {
        Map<String, Object> config = new ClientConfig(GOOD).consumer(1, 1, 1_000);
        assertThat(config)
                .containsEntry("isolation.level", "read_committed")
                .containsEntry("auto.offset.reset", "earliest")
                .containsEntry("enable.auto.commit", "false")
                .containsKey("partition.assignment.strategy");
        assertThat(new ClientConfig(with("group.protocol", "consumer")).consumer(1, 1, 1_000))
                .doesNotContainKey("partition.assignment.strategy");
        assertThat(new ClientConfig(with("group.instance.id", "a")).consumer(2, 3, 1_000))
                .containsEntry("group.instance.id", "a-2");
    }

    @Test
    void propertiesWorkWithTheirDefaults() {
        Properties defaults = new Properties();
        defaults.setProperty("group.id", "g");
        Properties config = new Properties(defaults);
        config.setProperty("bootstrap.servers", "127.0.0.1:1");
        ClientConfig read = new ClientConfig(config);
        read.check();
        assertThat(read.consumer(1, 1, 1_000)).containsEntry("group.id", "g");
    }

    @Test
    void noMoreIsFetchedAtOnceThanMayBeKeptUnlessItIsSaidOtherwise() {
        assertThat(new ClientConfig(GOOD).consumer(1, 1, 9_000)).containsEntry("fetch.max.bytes", "9000");
        assertThat(new ClientConfig(with("fetch.max.bytes", 70_000)).consumer(1, 1, 9_000))
                .containsEntry("fetch.max.bytes", 70_000);
    }

    private static void refused(Map<String, Object> config, String about) {
        assertThatThrownBy(() -> builder(config).listen())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(about);
    }

    private static KafkaInbox.Builder builder(Map<String, Object> config) {
        Inbox inbox = Inbox.create(new MemoryStore());
        return KafkaInbox.builder(config, List.of("orders"), Consumer.of("billing"), inbox);
    }

    private static Map<String, Object> with(String name, Object value) {
        Map<String, Object> config = new HashMap<>(GOOD);
        config.put(name, value);
        return config;
    }
}
