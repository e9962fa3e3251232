package dev.idem.kafka;

import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.Position;
import dev.idem.StoreException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.Lanes;
import dev.idem.broker.Pace;
import dev.idem.broker.Settler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One member of the group: a thread that polls, always, and lanes that work. When the lanes have enough, partitions are
 * paused and polling goes on, so that slow handlers or a store that is away never cost the membership.
 */
final class Poller implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Poller.class);
    private static final Duration IDLE = Duration.ofMillis(100);
    private static final Duration BUSY = Duration.ofMillis(10);
    private static final Duration LEAVE_LIMIT = Duration.ofSeconds(5);

    private final Plan plan;
    private final Life life;
    private final Consumer<byte[], byte[]> consumer;
    private final DeadLetterTopics deadLetterTopics;
    private final Streams streams;
    private final Lanes<Taken> lanes;
    private final Assignments assignments;
    private final Records records;
    private final Pace pace;

    Poller(String name, Plan plan, Life life, Clients clients, Consumer<byte[], byte[]> consumer) {
        this.plan = plan;
        this.life = life;
        this.consumer = consumer;
        deadLetterTopics = clients.deadLetterTopics();
        streams = clients.streams();
        records = new Records(plan.attributes());
        pace = new Pace(name);
        lanes = Lanes.start(
                new Lanes.Options(name + "-lane", plan.parallelism(), plan.retry(), life::laneThread),
                plan.inbox(),
                plan.consumer(),
                new Settlements(plan, clients.sender()));
        OffsetGuard guard = new OffsetGuard(plan.inbox().store(), plan.trustOffsets());
        assignments = new Assignments(consumer, lanes, streams, guard, plan.drainInRebalance());
    }

    /** What lanes decide, said to Kafka. */
    private record Settlements(Plan plan, DeadLetterSender sender) implements Settler<Taken> {
        @Override
        public void acknowledge(Taken taken) {
            taken.finish();
        }

        @Override
        public void setAside(Taken taken, Message message, DeadLetter letter) throws Exception {
            if (taken.offsets().isDropped()) {
                return; // its new owner handles the record again, and publishes the letter if there is to be one
            }
            sender.setAside(
                    taken.record(), plan.deadLetters().apply(taken.record().topic()), letter);
            taken.finish();
        }
    }

    @Override
    public void run() {
        try {
            while (!life.isEnding() && !deadLetterTopics.ensure()) {
                log.debug("No broker answers yet");
            }
            consumer.subscribe(plan.topics(), assignments);
            while (!life.isEnding()) {
                turn();
            }
        } catch (InterruptException stop) {
            life.end(plan.drain());
        } catch (Throwable fatal) { // whatever it is, somebody must hear of it
            life.fail(fatal);
        } finally {
            leave();
        }
    }

    private void turn() {
        lanes.failure().ifPresent(cause -> {
            throw new IdemException("A lane has died", cause);
        });
        boolean full = lanes.pending() >= plan.maxPending();
        if (full) {
            consumer.pause(consumer.assignment());
        } else if (lanes.pending() <= plan.maxPending() / 2) {
            consumer.resume(consumer.paused());
        }
        try {
            boolean soon = !consumer.paused().isEmpty() && !lanes.isWaiting();
            ConsumerRecords<byte[], byte[]> polled = consumer.poll(soon ? BUSY : IDLE);
            Optional<RuntimeException> unanswered = admitNew();
            take(polled);
            assignments.commitNowAndThen();
            if (unanswered.isPresent()) {
                throw unanswered.get();
            }
            pace.succeeded();
        } catch (RetriableException | StoreException passing) {
            pace.failed(passing);
            pause();
        }
    }

    /** What was polled meanwhile must not get lost: of partitions that are not admitted it is fetched again. */
    private Optional<RuntimeException> admitNew() {
        try {
            assignments.admitNew();
            return Optional.empty();
        } catch (RetriableException | StoreException noAnswer) {
            return Optional.of(noAnswer);
        }
    }

    private void take(ConsumerRecords<byte[], byte[]> polled) {
        List<Lanes.Delivery<Taken>> deliveries = new ArrayList<>(polled.count());
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>(polled.nextOffsets());
        for (TopicPartition partition : polled.partitions()) {
            List<ConsumerRecord<byte[], byte[]>> all = polled.records(partition);
            PartitionOffsets offsets = assignments.of(partition, all.get(0).offset());
            Optional<String> stream = streams.name(partition.topic());
            if (offsets == null || !offsets.isAdmitted() || stream.isEmpty()) {
                // Not compared with the store yet, or not known by its id and so not to be told from an older topic.
                consumer.seek(partition, all.get(0).offset());
                positions.remove(partition);
                continue;
            }
            if (offsets.isNew()) { // where the group has got to
                Position start = new Position(
                        stream.get(), partition.partition(), all.get(0).offset());
                plan.inbox().settledBefore(plan.consumer(), start);
            }
            for (ConsumerRecord<byte[], byte[]> record : all) {
                if (record.value() != null || plan.tombstones() == Tombstones.PROCESS) {
                    offsets.begin(record.offset());
                    Message message = records.message(record, stream.get());
                    deliveries.add(new Lanes.Delivery<>(new Taken(record, offsets), message, 0));
                }
            }
        }
        assignments.movedTo(positions);
        lanes.add(deliveries);
    }

    private void pause() {
        try {
            TimeUnit.NANOSECONDS.sleep(pace.left().toNanos());
        } catch (InterruptedException stop) {
            throw new InterruptException(stop);
        }
    }

    /** Finishes what was begun, commits it, and leaves the group. */
    private void leave() {
        Thread.interrupted(); // the client would refuse to say goodbye
        try {
            lanes.close(life.left());
            assignments.commitAll();
        } catch (RuntimeException failure) {
            log.debug("Not everything was committed; it is delivered again", failure);
        }
        try {
            consumer.close(CloseOptions.timeout(LEAVE_LIMIT));
        } catch (KafkaException failure) {
            log.debug("Left the group without a word", failure);
        } finally {
            life.ended();
        }
    }

    boolean hasJoined() {
        return assignments.hasJoined();
    }

    boolean isWaiting() {
        return lanes.isWaiting() || pace.isWaiting();
    }

    List<PartitionStatus> partitions() {
        return assignments.status();
    }
}
