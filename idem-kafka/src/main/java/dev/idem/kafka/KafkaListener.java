package dev.idem.kafka;

import dev.idem.broker.ListenerState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Listens, until it is closed. Built by {@link KafkaInbox}. Thread-safe. */
public final class KafkaListener implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(KafkaListener.class);
    private static final Duration GOODBYE = Duration.ofSeconds(12);

    private final Plan plan;
    private final Life life;
    private final List<Poller> pollers = new ArrayList<>();

    KafkaListener(Plan plan) {
        this.plan = plan;
        List<Consumer<byte[], byte[]>> consumers = new ArrayList<>();
        Clients clients = Clients.create(plan);
        String name = "idem-kafka-" + plan.consumer().name();
        life = new Life(name, plan.threads(), plan.drain(), clients::close);
        try {
            clients.deadLetterTopics().ensure();
            for (int i = 1; i <= plan.instances(); i++) {
                consumers.add(new KafkaConsumer<>(
                        plan.config().consumer(i, plan.instances()),
                        new ByteArrayDeserializer(),
                        new ByteArrayDeserializer()));
            }
        } catch (RuntimeException failure) {
            consumers.forEach(Consumer::close);
            clients.close();
            throw failure;
        }
        for (Consumer<byte[], byte[]> consumer : consumers) {
            pollers.add(new Poller(name + "-" + (pollers.size() + 1), plan, life, clients, consumer));
        }
        life.begin(pollers);
        log.info(
                "{}: listens to {} as group {}, {} x {} lanes, dead letters to {}",
                name,
                plan.topics(),
                plan.config().group(),
                plan.instances(),
                plan.parallelism(),
                plan.deadLetterTopics());
    }

    /** How it is. Waiting for a broker is not told: the client waits by itself. */
    public ListenerState state() {
        ListenerState end = life.state();
        if (end != null) {
            return end;
        }
        if (pollers.stream().anyMatch(Poller::isWaiting)) {
            return ListenerState.WAITING;
        }
        return pollers.stream().allMatch(Poller::hasJoined) ? ListenerState.RUNNING : ListenerState.STARTING;
    }

    /** Why it is {@link ListenerState#FAILED}; empty if it is not. */
    public Optional<Throwable> failure() {
        return life.failure();
    }

    /** The partitions it has now, in no order. */
    public List<PartitionStatus> partitions() {
        return pollers.stream().flatMap(poller -> poller.partitions().stream()).toList();
    }

    /** Closes as {@link #close(Duration)} does, with the time that was chosen for draining. */
    @Override
    public void close() {
        close(plan.drain());
    }

    /**
     * Takes nothing more, lets finish what was begun for so long, commits it, and leaves the group. Called by a handler, it
     * returns at once, and the rest happens when the handler has. Calling it again does no harm.
     */
    public void close(Duration longest) {
        life.end(longest);
        life.await(longest.plus(GOODBYE));
    }
}
