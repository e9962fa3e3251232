package dev.idem.kafka;

import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import dev.idem.broker.spi.ListenerRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One life of a {@link KafkaInboxListener}: its members of the group, and the clients that they share. Thread-safe. */
final class KafkaRun implements ListenerRun {
    private static final Logger log = LoggerFactory.getLogger(KafkaInboxListener.class);
    private static final Duration GOODBYE = Duration.ofSeconds(12);

    private final Life life;
    private final Clients clients;
    private final List<Poller> pollers = new ArrayList<>();

    KafkaRun(Plan plan) {
        String name = "idem-kafka-" + plan.consumer().name();
        clients = Clients.create(name, plan);
        life = new Life(name, plan.options(), clients::close);
        try {
            for (int i = 1; i <= plan.instances(); i++) {
                pollers.add(new Poller(name, i, plan, life, clients));
            }
        } catch (RuntimeException failure) {
            pollers.forEach(Poller::discard);
            clients.close();
            throw failure;
        }
        life.begin(pollers);
        log.info(
                "{}: listens to {} as group {}, {} x {} lanes, dead letters to {}",
                name,
                plan.topics(),
                plan.config().group(),
                plan.instances(),
                plan.options().parallelism(),
                plan.deadLetterTopics());
    }

    @Override
    public ListenerState state() {
        ListenerState end = life.state();
        if (end != null) {
            return end;
        }
        if (waiting().isPresent()) {
            return ListenerState.WAITING;
        }
        return pollers.stream().allMatch(Poller::hasJoined) ? ListenerState.RUNNING : ListenerState.STARTING;
    }

    @Override
    public Optional<Throwable> failure() {
        return life.failure();
    }

    @Override
    public Optional<Waiting> waiting() {
        if (life.state() != null) {
            return Optional.empty();
        }
        return clients.waits()
                .waiting()
                .or(() -> pollers.stream()
                        .map(Poller::waiting)
                        .flatMap(Optional::stream)
                        .findFirst());
    }

    @Override
    public int pending() {
        return pollers.stream().mapToInt(Poller::pending).sum();
    }

    @Override
    public long pendingBytes() {
        return pollers.stream().mapToLong(Poller::pendingBytes).sum();
    }

    /** What was not fetched yet of the partitions that it has. */
    @Override
    public OptionalLong lag() {
        List<Long> known = partitions().stream()
                .map(PartitionStatus::lag)
                .filter(OptionalLong::isPresent)
                .map(OptionalLong::getAsLong)
                .toList();
        return known.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(known.stream().mapToLong(Long::longValue).sum());
    }

    List<PartitionStatus> partitions() {
        return pollers.stream().flatMap(poller -> poller.partitions().stream()).toList();
    }

    @Override
    public void taking(boolean wanted) {
        pollers.forEach(poller -> poller.taking(wanted));
    }

    @Override
    public void close(Duration longest) {
        life.close(longest);
        life.await(longest.plus(GOODBYE));
    }
}
