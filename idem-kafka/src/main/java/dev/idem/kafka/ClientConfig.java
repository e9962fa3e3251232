package dev.idem.kafka;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Checks a consumer's configuration, fills in what is absent, and derives those of the other clients from it. */
final class ClientConfig {
    /** In the configuration of each kind of client, but of another meaning, or one per client. */
    private static final Set<String> OWN =
            Set.of("client.id", "interceptor.classes", "metric.reporters", "retries", "enable.metrics.push");

    private static final int LARGEST_REQUEST = 64 << 20;
    private static final int DEFAULT_MAX_POLL_INTERVAL = 300_000;
    private static final long DEFAULT_FETCH = 50L << 20;
    private static final long ASSUMED_RECORD = 256L << 10;
    private static final long LEAST_POLLED = 16;
    private static final long DEFAULT_POLLED = 500;

    private final Map<String, Object> given;

    /** @param given as clients take it: a map with names as keys, or {@link Properties} with their defaults */
    ClientConfig(Map<?, ?> given) {
        Map<String, Object> all = new HashMap<>();
        if (given instanceof Properties properties) {
            properties.stringPropertyNames().forEach(name -> all.put(name, properties.getProperty(name)));
        }
        given.forEach((name, value) -> {
            if (!(name instanceof String text) || value == null) {
                throw new IllegalArgumentException("the configuration has a null, or a name that is no text: " + name);
            }
            all.put(text, value);
        });
        this.given = Map.copyOf(all);
    }

    /** Refuses what would lose messages, or could not be read. */
    void check() {
        if (text(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, "").isBlank()) {
            throw new IllegalArgumentException("bootstrap.servers is missing");
        }
        if (text(ConsumerConfig.GROUP_ID_CONFIG, "").isBlank()) {
            throw new IllegalArgumentException(
                    "group.id is missing: the offsets of the consumer are kept under it, so choose one and keep it");
        }
        if (text(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false").equalsIgnoreCase("true")) {
            throw new IllegalArgumentException("enable.auto.commit=true would commit records that are not done;"
                    + " remove it: the listener commits what is");
        }
        checkDeserializer(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG);
        checkDeserializer(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);
    }

    private void checkDeserializer(String name) {
        Object chosen = given.getOrDefault(name, ByteArrayDeserializer.class);
        String className = chosen instanceof Class<?> type ? type.getName() : chosen.toString();
        if (!className.equals(ByteArrayDeserializer.class.getName())) {
            throw new IllegalArgumentException(
                    name + " is " + className + ", but must be left out: a record that it"
                            + " cannot read would stop its partition. Decode in the handler, or with Consumer.on(type, decoder, ...)");
        }
    }

    /**
     * For one of so many consumers of a listener.
     *
     * @param bytes what it may keep in memory: fetching more at once would make no sense
     */
    Map<String, Object> consumer(int instance, int instances, long bytes) {
        Map<String, Object> config = new HashMap<>(given);
        config.remove(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG);
        config.remove(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        config.putIfAbsent(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        config.putIfAbsent(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        config.putIfAbsent(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        config.putIfAbsent(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, Long.toString(Math.min(DEFAULT_FETCH, bytes)));
        // What is fetched may be packed, so its bytes do not say how many there are when it is unpacked.
        long polled = Math.max(LEAST_POLLED, Math.min(DEFAULT_POLLED, bytes / ASSUMED_RECORD));
        config.putIfAbsent(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, Long.toString(polled));
        // With the newer protocol the broker assigns, and the client refuses this setting.
        if (!text(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "classic").equalsIgnoreCase("consumer")) {
            config.putIfAbsent(
                    ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        }
        if (instances > 1) { // both must be different for each
            for (String name : Set.of(ConsumerConfig.CLIENT_ID_CONFIG, ConsumerConfig.GROUP_INSTANCE_ID_CONFIG)) {
                config.computeIfPresent(name, (key, value) -> value + "-" + instance);
            }
        }
        return config;
    }

    /** For one that reads on its own, without a group. */
    Map<String, Object> reader() {
        Map<String, Object> config = shared(ConsumerConfig.configNames());
        config.remove(ConsumerConfig.GROUP_ID_CONFIG);
        config.remove(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
        config.remove(ConsumerConfig.GROUP_PROTOCOL_CONFIG);
        config.remove(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG);
        config.remove(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        name(config, "-reader");
        return config;
    }

    Map<String, Object> admin() {
        Map<String, Object> config = shared(AdminClientConfig.configNames());
        name(config, "-admin");
        return config;
    }

    /** All replicas, no duplicates by the producer's own tries, and an answer within the sender's limit. */
    Map<String, Object> producer(String suffix) {
        Map<String, Object> config = shared(ProducerConfig.configNames());
        name(config, suffix);
        config.put(ProducerConfig.ACKS_CONFIG, "all");
        config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        config.put(ProducerConfig.LINGER_MS_CONFIG, "0");
        config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "5000");
        config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "5000");
        config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "15000");
        // Whatever could be stored once must not fail here for its size; the broker's limit is the one that counts.
        config.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(LARGEST_REQUEST));
        config.put(ProducerConfig.BUFFER_MEMORY_CONFIG, Long.toString(2L * LARGEST_REQUEST));
        return config;
    }

    /** For dead letters: packed, because their records may have been. Whatever size a record had, the broker decides. */
    Map<String, Object> letters() {
        Map<String, Object> config = producer("-dead-letters");
        config.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "gzip");
        config.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(Integer.MAX_VALUE));
        config.put(ProducerConfig.BUFFER_MEMORY_CONFIG, Long.toString(Integer.MAX_VALUE));
        return config;
    }

    private void name(Map<String, Object> config, String suffix) {
        String id = text(ConsumerConfig.CLIENT_ID_CONFIG, "");
        if (!id.isEmpty()) {
            config.put(ConsumerConfig.CLIENT_ID_CONFIG, id + suffix);
        }
    }

    private Map<String, Object> shared(Set<String> names) {
        Map<String, Object> config = new HashMap<>(given);
        config.keySet().retainAll(names);
        config.keySet().removeAll(OWN);
        return config;
    }

    int maxPollIntervalMillis() {
        return Integer.parseInt(
                text(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, Integer.toString(DEFAULT_MAX_POLL_INTERVAL)));
    }

    String instanceId() {
        return text(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, "");
    }

    String group() {
        return text(ConsumerConfig.GROUP_ID_CONFIG, "");
    }

    private String text(String name, String absent) {
        return given.getOrDefault(name, absent).toString().strip();
    }
}
