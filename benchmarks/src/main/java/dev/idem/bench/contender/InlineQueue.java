package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Idem without a queue: to store is to handle. What the latency of all others is compared with. */
final class InlineQueue implements QueueContender {
    private final IdemSetup setup;
    private final Consumer consumer = IdemSetup.consumer()
            .on(Delivery.TYPE, PaymentRequest::decode, Idem::pay)
            .build();
    private @Nullable Inbox inbox;
    private Meter meter = Meter.of(0);

    InlineQueue(IdemSetup setup) {
        this.setup = setup;
    }

    @Override
    public String name() {
        return setup.name();
    }

    @Override
    public List<String> tables() {
        return IdemQueue.TABLES;
    }

    @Override
    public String left() {
        return "SELECT 0";
    }

    @Override
    public void open(int workers, Meter hears) {
        meter = hears;
        inbox = setup.inbox();
        inbox.register(consumer);
    }

    @Override
    public void store(List<Delivery> messages) {
        for (Delivery message : messages) {
            IdemSetup.check(message, opened().accept(consumer, message.message()));
            meter.committed();
        }
    }

    private Inbox opened() {
        return Objects.requireNonNull(inbox, "open it first");
    }

    @Override
    public void start() {}

    @Override
    public void close() {
        opened().close();
    }
}
