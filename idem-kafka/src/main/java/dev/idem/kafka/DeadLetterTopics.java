package dev.idem.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that the topics of dead letters are there before the first letter is, but not before the topics of the records:
 * one that was misspelt gets none. One that vanishes is made again when letters have lacked it for a while: who deletes a topic to
 * make it anew, with settings of their own, has that time. Thread-safe.
 */
final class DeadLetterTopics {
    private static final Logger log = LoggerFactory.getLogger(DeadLetterTopics.class);

    private static final String LARGEST = "max.message.bytes";

    /** How long a topic that has vanished is left to those who may make it again. */
    private static final Duration LET_ALONE = Duration.ofSeconds(30);

    /** How much larger than its record a letter may be, because it has headers of ours. */
    private static final int ROOM = 32 << 10;

    /** Kept until a person decides, and never compacted: letters of one key would replace each other. */
    private static final Map<String, String> CONFIG = Map.of("retention.ms", "-1", "cleanup.policy", "delete");

    private final Admin admin;
    private final UnaryOperator<String> deadLetters;
    private final Duration limit;
    private final Waits waits;
    private final Set<String> ensured = ConcurrentHashMap.newKeySet();
    /** By source, since when letters have had no answer, in the terms of {@link System#nanoTime}. */
    private final Map<String, Long> unanswered = new ConcurrentHashMap<>();

    DeadLetterTopics(Admin admin, UnaryOperator<String> deadLetters, Duration limit, Waits waits) {
        this.admin = admin;
        this.deadLetters = deadLetters;
        this.limit = limit;
        this.waits = waits;
    }

    /** Creates those of these topics that are missing. False if that was not possible: it must be asked again. */
    boolean ensure(Collection<String> sources) {
        boolean all = true;
        for (String source : sources) {
            if (!ensured.contains(source)) {
                all &= ensure(source, deadLetters.apply(source));
            }
        }
        return all;
    }

    /** A letter of this source had no topic, or no answer. If that lasts, the topic is looked for again. */
    void unanswered(String source) {
        long now = System.nanoTime();
        long since = unanswered.computeIfAbsent(source, first -> now);
        if (now - since > LET_ALONE.toNanos()) {
            unanswered.remove(source);
            ensured.remove(source);
        }
    }

    /** A letter of this source is in its topic. */
    void answered(String source) {
        unanswered.remove(source);
    }

    private synchronized boolean ensure(String source, String topic) {
        String what = "topic " + topic;
        if (ensured.contains(source) || waits.isTooEarly(what)) {
            return ensured.contains(source);
        }
        try {
            if (!admin.listTopics()
                    .names()
                    .get(limit.toMillis(), TimeUnit.MILLISECONDS)
                    .contains(topic)) {
                create(topic, config(source));
            }
            ensured.add(source);
            waits.succeeded(what);
            return true;
        } catch (TimeoutException noAnswer) {
            waits.failed(what, noAnswer, "no answer of the broker for " + limit);
        } catch (ExecutionException failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            waits.failed(what, cause, cause.getMessage() + (cause instanceof RetriableException ? "" : advice(topic)));
        } catch (InterruptedException stop) {
            throw new InterruptException(stop);
        }
        return false;
    }

    private void create(String topic, Map<String, String> config)
            throws InterruptedException, TimeoutException, ExecutionException {
        try {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(1), Optional.empty()).configs(config)))
                    .all()
                    .get(limit.toMillis(), TimeUnit.MILLISECONDS);
            log.info("Created topic {} for dead letters", topic);
        } catch (ExecutionException failure) {
            if (!(failure.getCause()
                    instanceof TopicExistsException)) { // another instance was faster, or we may not see it
                throw failure;
            }
        }
    }

    /** With the limit of the records, and room for our headers: else the largest record could not be set aside. */
    private Map<String, String> config(String source) throws InterruptedException {
        Map<String, String> config = new TreeMap<>(CONFIG);
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, source);
        try {
            Config known = admin.describeConfigs(List.of(resource))
                    .all()
                    .get(limit.toMillis(), TimeUnit.MILLISECONDS)
                    .getOrDefault(resource, new Config(List.of()));
            ConfigEntry largest = known.get(LARGEST);
            if (largest != null && largest.value() != null) {
                long bytes = Math.min(Integer.MAX_VALUE, Long.parseLong(largest.value()) + ROOM);
                config.put(LARGEST, Long.toString(bytes));
            }
        } catch (ExecutionException | TimeoutException unknown) {
            log.warn("The largest record of {} is not known, so its dead letters get the broker's limit", source);
            log.debug("No configuration of {}", source, unknown);
        }
        return config;
    }

    private static String advice(String topic) {
        return " Create the topic for dead letters with: kafka-topics.sh --bootstrap-server <address> --create --topic "
                + topic
                + " --partitions 1 "
                + CONFIG.entrySet().stream()
                        .map(entry -> "--config " + entry.getKey() + "=" + entry.getValue())
                        .sorted()
                        .collect(Collectors.joining(" "));
    }
}
