package dev.idem.kafka;

import dev.idem.IdemException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/**
 * Names topics for good, by the ids of their cluster and of themselves: a topic that was deleted and made again has another
 * id, so its positions cannot be taken for the old ones. Looks now and then whether topics are there and still the same.
 * Thread-safe.
 */
final class Streams {
    static final String BROKER = "the broker";

    private static final long EVERY_NANOS = Duration.ofMillis(500).toNanos();

    private final Admin admin;
    private final Collection<String> topics;
    private final Duration limit;
    private final Waits waits;
    private final Map<String, Uuid> ids = new ConcurrentHashMap<>();
    private final Map<Uuid, String> names = new ConcurrentHashMap<>();
    private KafkaFuture<?> asking = KafkaFuture.completedFuture(null);
    private long asked = System.nanoTime() - EVERY_NANOS;
    private volatile @Nullable String cluster;

    Streams(Admin admin, Collection<String> topics, Duration limit, Waits waits) {
        this.admin = admin;
        this.topics = List.copyOf(topics);
        this.limit = limit;
        this.waits = waits;
    }

    /** The name of a topic; empty while it is not known. */
    Optional<String> name(String topic) {
        Uuid id = ids.get(topic);
        String of = cluster;
        if (id == null || of == null) {
            return Optional.empty();
        }
        if (id.equals(Uuid.ZERO_UUID)) {
            throw new IdemException("Topic " + topic + " has no id: its broker is too old, 2.8 is needed", null);
        }
        return Optional.of(names.computeIfAbsent(id, known -> of + "/" + known));
    }

    /** The topics that were seen. */
    List<String> known() {
        return topics.stream().filter(topic -> name(topic).isPresent()).toList();
    }

    /** Asks and waits, because topics may have been made again since. */
    void refresh() {
        try {
            ask().get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException told) {
            // each topic has told it already
        } catch (TimeoutException noAnswer) {
            waits.failed(BROKER, noAnswer, "no answer for " + limit);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Asks now and then, and does not wait. */
    synchronized void look() {
        if (asking.isDone() && System.nanoTime() - asked >= EVERY_NANOS) {
            asked = System.nanoTime();
            asking = ask();
        }
    }

    private KafkaFuture<Void> ask() {
        int millis = Math.toIntExact(limit.toMillis());
        KafkaFuture<String> id = cluster != null
                ? KafkaFuture.completedFuture(cluster)
                : admin.describeCluster(new DescribeClusterOptions().timeoutMs(millis))
                        .clusterId();
        KafkaFuture<String> learned = id.whenComplete((name, failure) -> {
            if (failure == null) {
                cluster = name;
            } else {
                waits.failed(BROKER, unwrapped(failure));
            }
        });
        Stream<KafkaFuture<?>> answers = admin
                .describeTopics(topics, new DescribeTopicsOptions().timeoutMs(millis))
                .topicNameValues()
                .entrySet()
                .stream()
                .map(asked ->
                        asked.getValue().whenComplete((found, failure) -> answered(asked.getKey(), found, failure)));
        return KafkaFuture.allOf(Stream.concat(Stream.of(learned), answers).toArray(KafkaFuture[]::new));
    }

    private void answered(String topic, @Nullable TopicDescription found, @Nullable Throwable failure) {
        String what = "topic " + topic;
        if (found != null) {
            ids.put(topic, found.topicId());
            waits.succeeded(what);
            waits.succeeded(BROKER);
        } else if (failure != null) {
            Throwable cause = unwrapped(failure);
            boolean silent =
                    cause instanceof RetriableException && !(cause instanceof UnknownTopicOrPartitionException);
            waits.failed(silent ? BROKER : what, cause);
        }
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
