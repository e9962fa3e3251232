package dev.idem.kafka;

import dev.idem.IdemException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names topics for good, by the ids of their cluster and of themselves: a topic that was deleted and made again has another
 * id, so its positions cannot be taken for the old ones. Thread-safe.
 */
final class Streams {
    private static final Logger log = LoggerFactory.getLogger(Streams.class);

    private final Admin admin;
    private final Duration limit;
    private final Map<String, String> names = new ConcurrentHashMap<>();
    private volatile @Nullable String cluster;

    Streams(Admin admin, Duration limit) {
        this.admin = admin;
        this.limit = limit;
    }

    /** The name of a topic; empty if the broker did not answer, so that it must be asked again. */
    Optional<String> name(String topic) {
        if (!names.containsKey(topic)) {
            ask(Set.of(topic));
        }
        return Optional.ofNullable(names.get(topic));
    }

    /** Asks anew, because topics may have been made again since. */
    void refresh(Set<String> topics) {
        names.keySet().removeAll(topics);
        ask(topics);
    }

    private void ask(Set<String> topics) {
        if (topics.isEmpty()) {
            return;
        }
        try {
            if (cluster == null) {
                cluster = admin.describeCluster().clusterId().get(limit.toMillis(), TimeUnit.MILLISECONDS);
            }
            Map<String, TopicDescription> found =
                    admin.describeTopics(topics).allTopicNames().get(limit.toMillis(), TimeUnit.MILLISECONDS);
            found.forEach((topic, description) -> names.put(topic, name(topic, description.topicId())));
        } catch (ExecutionException | TimeoutException noAnswer) {
            log.debug("The ids of {} are not known yet", topics, noAnswer);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private String name(String topic, Uuid id) {
        if (id.equals(Uuid.ZERO_UUID)) {
            throw new IdemException("Topic " + topic + " has no id: its broker is too old, 2.8 is needed", null);
        }
        return cluster + "/" + id;
    }
}
