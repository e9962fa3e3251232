package dev.idem.broker.spi;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Position;
import dev.idem.RetryPolicy;
import dev.idem.broker.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadFactory;
import java.util.function.Predicate;

/**
 * Deliveries on their way through an inbox, in lanes side by side. Messages with the same ordering key stay in one lane and
 * keep their order; one that must come again holds back only its own key. Each lane takes what is waiting as one batch.
 * A store that does not answer stops all lanes for a while, and costs no message an attempt. Thread-safe.
 *
 * @param <D> a delivery, as the broker's client has it
 */
public final class KeyedExecutor<D> {
    private final Options options;
    private final Consumer consumer;
    private final Pace pace;
    private final StoreProbe probe;
    private final DeliveryDecider triage;
    private final CopyPublisher<D> publisher;
    private final List<Lane<D>> lanes = new ArrayList<>();

    private KeyedExecutor(Options options, Inbox inbox, Consumer consumer, Settler<D> settler) {
        this.options = options;
        this.consumer = Objects.requireNonNull(consumer, "consumer");
        pace = Pace.ofStore(options.name);
        probe = new StoreProbe(options.name, inbox, options.threads);
        triage = new DeliveryDecider(consumer, options.retry);
        DeliveryWork<D> work = new DeliveryWork<>(inbox, consumer, triage, settler, pace);
        publisher = new CopyPublisher<>(options.name, work::publish);
        publisher.start(named(options, "-copies", publisher));
        for (int i = 0; i < options.lanes; i++) {
            Lane<D> lane = new Lane<>(work, publisher, pace, consumer.policy().batchMessages());
            lanes.add(lane);
            lane.start(named(options, "-" + (i + 1), lane));
        }
    }

    private static Thread named(Options options, String suffix, Runnable work) {
        Thread thread = options.threads.newThread(work);
        thread.setName(options.name + suffix);
        return thread;
    }

    /** Starts the lanes. */
    public static <D> KeyedExecutor<D> start(Options options, Inbox inbox, Consumer consumer, Settler<D> settler) {
        return new KeyedExecutor<>(options, inbox, consumer, settler);
    }

    /**
     * How lanes are built.
     *
     * @param name the threads' name, and the listener's in the log
     * @param lanes how many work side by side
     * @param retry when a message whose handler failed comes again, and how often
     * @param threads makes the lanes' threads; they are named here
     * @param maxPending how many deliveries are enough
     * @param maxBytes how many bytes of deliveries are enough
     */
    public record Options(
            String name, int lanes, RetryPolicy retry, ThreadFactory threads, int maxPending, long maxBytes) {
        public Options {
            if (lanes < 1) {
                throw new IllegalArgumentException("lanes is " + lanes + ", but must be at least 1");
            }
        }
    }

    /**
     * One delivery.
     *
     * @param failures how often its handler has failed, where the broker remembers that
     */
    public record Delivery<D>(D origin, Message message, int failures) {}

    /** Takes deliveries in the order of the broker. */
    public void add(List<Delivery<D>> deliveries) {
        if (lanes.size() == 1) {
            lanes.get(0).add(deliveries.stream().map(this::entry).toList());
            return;
        }
        List<List<Entry<D>>> byLane = new ArrayList<>();
        lanes.forEach(lane -> byLane.add(new ArrayList<>()));
        for (Delivery<D> delivery : deliveries) {
            Entry<D> entry = entry(delivery);
            byLane.get(Math.floorMod(entry.order.hashCode(), lanes.size())).add(entry);
        }
        for (int i = 0; i < byLane.size(); i++) {
            lanes.get(i).add(byLane.get(i));
        }
    }

    private Entry<D> entry(Delivery<D> delivery) {
        return new Entry<>(delivery, order(delivery));
    }

    /** What must keep its order among its like: with marks, all of a partition. A message without a key stands alone. */
    private Object order(Delivery<D> delivery) {
        Message message = delivery.message();
        if (consumer.isWatermark() && message.position().isPresent()) {
            Position position = message.position().get();
            return List.of(position.stream(), position.partition());
        }
        return message.orderingKey().<Object>map(key -> key).orElse(delivery);
    }

    /** How many deliveries are here and not settled. */
    public int pending() {
        return lanes.stream().mapToInt(Lane::pending).sum();
    }

    /** How many bytes these deliveries have. */
    public long pendingBytes() {
        return lanes.stream().mapToLong(Lane::bytes).sum();
    }

    /** Whether there is enough here, so that no more should be taken from the broker. */
    public boolean isFull() {
        return pending() >= options.maxPending || pendingBytes() >= options.maxBytes;
    }

    /** Whether half of what would be enough is gone, so that more may be taken from the broker. */
    public boolean isHalfEmpty() {
        return pending() <= options.maxPending / 2 && pendingBytes() <= options.maxBytes / 2;
    }

    /** What keeps messages here: a store that does not answer, or dead letters that cannot be published. */
    public Optional<Waiting> waiting() {
        return pace.waiting()
                .or(() -> probe.waiting(lanes.stream().map(Lane::busySince).flatMapToLong(OptionalLong::stream)))
                .or(publisher::waiting);
    }

    /** Whether the store did not answer when it was last asked. */
    public boolean isStoreAway() {
        return pace.isWaiting();
    }

    /** Why a lane has died, if one has: then the listener must end too. */
    public Optional<Throwable> failure() {
        return lanes.stream().map(Lane::failure).filter(Objects::nonNull).findFirst();
    }

    /**
     * Forgets deliveries that are not ours any more: those that wait at once, and those being worked on as soon as they
     * are through. Waits for the latter, but not longer than this; answers whether none is left.
     */
    public boolean forget(Predicate<D> leaving, Duration longest) {
        long deadline = System.nanoTime() + longest.toNanos();
        lanes.forEach(lane -> lane.forget(leaving));
        publisher.forget();
        boolean none = publisher.awaitNone(leaving, deadline);
        for (Lane<D> lane : lanes) {
            none &= lane.awaitNone(leaving, deadline);
        }
        return none;
    }

    /**
     * Begins nothing more, and waits for what is being worked on and for the dead letters of it, but not longer than this.
     * What waits is forgotten, and the broker's to deliver again. Answers whether everything that was begun has ended.
     */
    public boolean close(Duration longest) {
        long deadline = System.nanoTime() + longest.toNanos();
        lanes.forEach(Lane::stop);
        boolean ended = true;
        for (Lane<D> lane : lanes) {
            ended &= lane.join(deadline);
        }
        ended &= publisher.close(deadline);
        triage.tellRest();
        return ended;
    }
}
