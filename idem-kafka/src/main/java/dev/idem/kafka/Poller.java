package dev.idem.kafka;

import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.Position;
import dev.idem.Rejection;
import dev.idem.StoreException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.Waiting;
import dev.idem.broker.spi.KeyedExecutor;
import dev.idem.broker.spi.Pace;
import dev.idem.broker.spi.Settler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
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
    private static final long PATIENCE_NANOS = Duration.ofSeconds(10).toNanos();
    private static final Duration LOOK_AGAIN = Duration.ofMillis(300);

    private final int instance;
    private final Plan plan;
    private final Life life;
    private final Clients clients;
    private final KeyedExecutor<Taken> lanes;
    private final Pace broker;
    private final Pace store;
    private final Pace instanceId;
    private final Pace rights;
    private volatile Member member;
    private volatile boolean taking = true;
    private long joinedAt;

    Poller(String listener, int instance, Plan plan, Life life, Clients clients) {
        String name = listener + "-" + instance;
        this.instance = instance;
        this.plan = plan;
        this.life = life;
        this.clients = clients;
        broker = Pace.ofBroker(name, Streams.BROKER);
        store = Pace.ofStore(name);
        instanceId = Pace.ofBroker(name, "group.instance.id " + plan.config().instanceId());
        rights = Pace.ofBroker(name, "a right at the broker");
        lanes = KeyedExecutor.start(
                new KeyedExecutor.Options(
                        name + "-lane",
                        plan.options().parallelism(),
                        plan.options().retry(),
                        life::laneThread,
                        plan.maxPending(),
                        plan.maxPendingBytes()),
                plan.inbox(),
                plan.consumer(),
                new Settlements(plan, clients));
        try {
            member = Member.create(instance, plan, lanes, clients);
        } catch (RuntimeException refused) {
            lanes.close(Duration.ZERO);
            throw refused;
        }
    }

    /** What lanes decide, said to Kafka. */
    private record Settlements(Plan plan, Clients clients) implements Settler<Taken> {
        /** It has no type: whoever handles types alone does not ask for it, and its letter would be no use to anybody. */
        private static boolean isUnwanted(Taken taken, DeadLetter letter) {
            return taken.record().value() == null
                    && letter.reason().equals("REJECTED")
                    && letter.detail().orElse("").startsWith(Rejection.UNKNOWN_TYPE.name());
        }

        @Override
        public void acknowledge(Taken taken) {
            taken.finish();
        }

        @Override
        public void setAside(Taken taken, Message message, DeadLetter letter) throws Exception {
            if (taken.offsets().isDropped()) {
                return; // its new owner handles the record again, and publishes the letter if there is to be one
            }
            if (isUnwanted(taken, letter)) {
                log.debug(
                        "{}: a tombstone has no handler, and is acknowledged",
                        plan.consumer().name());
                taken.finish();
                return;
            }
            String source = taken.record().topic();
            try {
                clients.sender().setAside(taken.record(), plan.deadLetters().apply(source), letter);
            } catch (TimeoutException | UnknownTopicOrPartitionException gone) {
                clients.deadLetterTopics().unanswered(source);
                throw gone;
            }
            clients.deadLetterTopics().answered(source);
            taken.finish();
        }
    }

    @Override
    public void run() {
        try {
            while (!life.isEnding() && !clients.areReady()) {
                sleep(LOOK_AGAIN);
            }
            join();
            while (!life.isEnding()) {
                turn();
            }
        } catch (InterruptException stop) {
            life.end(plan.options().drain());
        } catch (Throwable fatal) { // whatever it is, somebody must hear of it
            life.fail(fatal);
        } finally {
            leave();
        }
    }

    private void join() {
        joinedAt = System.nanoTime();
        member.consumer().subscribe(plan.topics(), member.assignments());
    }

    private void turn() {
        lanes.failure().ifPresent(cause -> {
            throw new IdemException("A lane has died", cause);
        });
        clients.streams().look();
        clients.deadLetterTopics().ensure(clients.streams().known());
        member.assignments().beginAnew();
        try {
            poll(member.consumer());
            broker.succeeded();
            store.succeeded();
            if (hasJoined()) {
                instanceId.succeeded();
                rights.succeeded();
            } else if (instanceId.isWaiting() && System.nanoTime() - joinedAt > PATIENCE_NANOS) {
                joinAgain(instanceId); // the client may also wait in silence for what it was refused
            }
        } catch (UnreleasedInstanceIdException taken) {
            instanceId.failed(taken);
            joinAgain(instanceId);
        } catch (AuthorizationException refused) { // not both at once: what they have in common differs between clients
            refused(refused);
        } catch (AuthenticationException refused) {
            refused(refused);
        } catch (RetriableException passing) {
            broker.failed(passing);
            sleep(broker.left());
        } catch (StoreException passing) {
            store.failed(passing);
            sleep(store.left());
        }
    }

    private void refused(KafkaException refused) {
        rights.failed(refused, Refusal.whatIsMissing(refused));
        joinAgain(rights);
    }

    private void poll(Consumer<byte[], byte[]> consumer) {
        if (!taking || lanes.isFull()) {
            consumer.pause(consumer.assignment());
        } else if (lanes.isHalfEmpty()) {
            consumer.resume(consumer.paused());
        }
        boolean soon = taking && !consumer.paused().isEmpty() && !lanes.isStoreAway();
        ConsumerRecords<byte[], byte[]> polled = consumer.poll(soon ? BUSY : IDLE);
        // What was polled must not get lost: of partitions that are not admitted it is fetched again.
        Set<TopicPartition> left = Set.of();
        RuntimeException unanswered = null;
        try {
            left = member.assignments().admitNew();
        } catch (RetriableException | StoreException noAnswer) {
            unanswered = noAnswer;
        }
        take(consumer, polled, left);
        member.assignments().commitNowAndThen(!taking);
        if (unanswered != null) {
            throw unanswered;
        }
    }

    /** @param left partitions that begin elsewhere, so that this is not the next of them */
    private void take(
            Consumer<byte[], byte[]> consumer, ConsumerRecords<byte[], byte[]> polled, Set<TopicPartition> left) {
        List<KeyedExecutor.Delivery<Taken>> deliveries = new ArrayList<>(polled.count());
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>(polled.nextOffsets());
        positions.keySet().removeAll(left);
        for (TopicPartition partition : polled.partitions()) {
            if (left.contains(partition)) {
                continue;
            }
            List<ConsumerRecord<byte[], byte[]>> all = polled.records(partition);
            PartitionOffsets offsets =
                    member.assignments().of(partition, all.get(0).offset());
            Optional<String> stream = offsets == null ? Optional.empty() : offsets.stream();
            if (offsets == null || stream.isEmpty() || !taking) {
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
                    deliveries.add(
                            new KeyedExecutor.Delivery<>(new Taken(record, offsets), message(record, stream.get()), 0));
                }
            }
        }
        member.assignments().movedTo(positions);
        lanes.add(deliveries);
    }

    private Message message(ConsumerRecord<byte[], byte[]> record, String stream) {
        return plan.options().reader().read(record).toBuilder()
                .position(new Position(stream, record.partition(), record.offset()))
                .build();
    }

    /** As a new member, because the client does not try again by itself. */
    private void joinAgain(Pace pace) {
        member.assignments().drop();
        member.leave();
        sleep(pace.left());
        member = Member.create(instance, plan, lanes, clients);
        join();
    }

    private static void sleep(Duration pause) {
        try {
            TimeUnit.NANOSECONDS.sleep(pause.toNanos());
        } catch (InterruptedException stop) {
            throw new InterruptException(stop);
        }
    }

    /** Finishes what was begun, commits it, and leaves the group. */
    private void leave() {
        Thread.interrupted(); // the client would refuse to say goodbye
        try {
            lanes.close(life.left());
            member.assignments().commitAll();
        } catch (RuntimeException failure) {
            log.debug("Not everything was committed; it is delivered again", failure);
        }
        try {
            member.leave();
        } finally {
            life.ended();
        }
    }

    /** Never begun. */
    void discard() {
        lanes.close(Duration.ZERO);
        member.leave();
    }

    void taking(boolean wanted) {
        taking = wanted;
    }

    boolean hasJoined() {
        return member.assignments().hasJoined();
    }

    Optional<Waiting> waiting() {
        return broker.waiting()
                .or(store::waiting)
                .or(instanceId::waiting)
                .or(rights::waiting)
                .or(lanes::waiting);
    }

    int pending() {
        return lanes.pending();
    }

    long pendingBytes() {
        return lanes.pendingBytes();
    }

    List<PartitionStatus> partitions() {
        return member.assignments().status();
    }
}
