package dev.idem.rabbitmq;

import com.rabbitmq.client.Delivery;
import dev.idem.Header;
import dev.idem.Message;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.MessageReader;
import dev.idem.broker.spi.KeyedExecutor;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** Brings deliveries into the lanes. Thread-safe. */
final class Intake implements Session.Arrivals {
    /** How many budgets are here before nothing more is read, if messages are larger than those before them. */
    private static final long MOST_BUDGETS = 2;

    private final MessageReader<Delivery> reader;
    private final String queue;
    private final LazySeal seal;
    private final KeyedExecutor<Incoming> lanes;
    private final Optional<StreamReader> stream;
    private final long budget;
    private final Prefetch prefetch;
    private final AtomicLong redelivered = new AtomicLong();

    Intake(Options options, LazySeal seal, KeyedExecutor<Incoming> lanes, Optional<StreamReader> stream) {
        reader = options.common().reader();
        queue = options.queue();
        this.seal = seal;
        this.lanes = lanes;
        this.stream = stream;
        budget = options.common().maxPendingBytes();
        int most = Math.min(options.prefetch(), options.common().maxPending());
        prefetch = new Prefetch(most, budget);
    }

    @Override
    public void take(Session session, Delivery delivery) {
        if (delivery.getEnvelope().isRedeliver()) {
            redelivered.incrementAndGet();
        }
        prefetch.arrived(delivery.getBody().length);
        List<Header> ours = Tables.isSealed(delivery.getProperties())
                ? seal.get().open(reader.raw(delivery), Origin::isSealed)
                : List.<Header>of();
        Incoming incoming = new Incoming(session, delivery, ours);
        Message read = reader.read(Origin.restored(delivery, incoming::ours)).toBuilder()
                .header(DeliveryHeaders.QUEUE, queue)
                .build();
        Message message = stream.isPresent() ? stream.get().placed(session, delivery, read) : read;
        lanes.add(List.of(new KeyedExecutor.Delivery<>(incoming, message, incoming.failures())));
        if (!session.isOpen()) { // lost meanwhile: it comes again, behind those before it
            lanes.forget(late -> late.session() == session, Duration.ZERO);
        }
    }

    /** Whether nothing more should be read for now. What is larger than the budget by itself may come alone. */
    boolean isFull(long unhandledBytes) {
        return lanes.pending() > 0 && lanes.pendingBytes() + unhandledBytes > MOST_BUDGETS * budget;
    }

    Prefetch prefetch() {
        return prefetch;
    }

    long redelivered() {
        return redelivered.get();
    }
}
