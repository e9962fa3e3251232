package dev.idem.kafka;

import dev.idem.IdemException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sees to it that the topics of dead letters are there before the first letter is. */
final class DeadLetterTopics {
    private static final Logger log = LoggerFactory.getLogger(DeadLetterTopics.class);

    /** Kept until a person decides, and never compacted: letters of one key would replace each other. */
    private static final Map<String, String> CONFIG = Map.of("retention.ms", "-1", "cleanup.policy", "delete");

    private final Admin admin;
    private final Collection<String> topics;
    private final Duration limit;

    DeadLetterTopics(Admin admin, Collection<String> topics, Duration limit) {
        this.admin = admin;
        this.topics = List.copyOf(topics);
        this.limit = limit;
    }

    /**
     * Creates those that are missing. Answers false if the broker did not answer: then it must be asked again.
     *
     * @throws IdemException if one is missing and may not be created
     */
    boolean ensure() {
        try {
            Set<String> there = admin.listTopics().names().get(limit.toMillis(), TimeUnit.MILLISECONDS);
            for (String topic : topics) {
                if (!there.contains(topic)) {
                    create(topic);
                }
            }
            return true;
        } catch (TimeoutException noAnswer) {
            return false;
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof RetriableException) {
                return false;
            }
            throw new IdemException("Could not look for the topics of dead letters, " + topics, failure.getCause());
        } catch (InterruptedException stop) {
            throw new InterruptException(stop);
        }
    }

    private void create(String topic) throws InterruptedException, TimeoutException, ExecutionException {
        try {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(1), Optional.empty()).configs(CONFIG)))
                    .all()
                    .get(limit.toMillis(), TimeUnit.MILLISECONDS);
            log.info("Created topic {} for dead letters", topic);
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof TopicExistsException) {
                return; // another instance was faster, or we may not see it
            }
            if (failure.getCause() instanceof RetriableException) {
                throw failure;
            }
            throw new IdemException(
                    "Topic " + topic + " for dead letters is missing and could not be created; create it with:"
                            + " kafka-topics.sh --bootstrap-server <address> --create --topic " + topic
                            + " --partitions 1 "
                            + CONFIG.entrySet().stream()
                                    .map(entry -> "--config " + entry.getKey() + "=" + entry.getValue())
                                    .sorted()
                                    .collect(Collectors.joining(" ")),
                    failure.getCause());
        }
    }
}
