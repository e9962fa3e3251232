package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Outcome;
import dev.idem.queue.QueuePolicy;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Idem with stored messages, in each of the ways in which they can be claimed and handled. */
final class IdemQueue implements QueueContender {
    static final List<String> TABLES =
            List.of("idem_marker", "idem_retention", "idem_queue", "idem_worker", "idem_attempt");

    private final IdemSetup setup;
    private final QueuePolicy policy;
    private final Form form;
    private @Nullable Inbox inbox;
    private Consumer consumer;
    private Meter meter = Meter.of(0);

    IdemQueue(IdemSetup setup, QueuePolicy policy, Form form) {
        this.setup = setup;
        this.policy = policy;
        this.form = form;
        consumer = consumer(1);
        setup.inbox().close(); // its tables must be there
    }

    @Override
    public String name() {
        return setup.name();
    }

    @Override
    public List<String> tables() {
        return TABLES;
    }

    @Override
    public String left() {
        return "SELECT count(*) FROM (SELECT 1 FROM idem_queue LIMIT 1) o";
    }

    @Override
    public void open(int workers, Meter hears) {
        meter = hears;
        consumer = consumer(workers);
        inbox = hears.isPrompt() ? setup.inbox(listener(hears)) : setup.inbox();
    }

    private static InboxListener listener(Meter hears) {
        return new InboxListener() {
            @Override
            public void settled(InboxListener.Delivery delivery) {
                if (delivery.outcome() instanceof Outcome.Processed) {
                    hears.committed();
                }
            }
        };
    }

    private Consumer consumer(int workers) {
        return form.consumer(IdemSetup.consumer().queued(policy.withWorkers(workers)), meter);
    }

    @Override
    public void store(List<Delivery> messages) {
        List<Outcome<?>> outcomes = opened().acceptAll(
                        consumer, messages.stream().map(Delivery::message).toList());
        for (int i = 0; i < outcomes.size(); i++) {
            IdemSetup.checkStored(messages.get(i), outcomes.get(i));
        }
    }

    @Override
    public void start() {
        opened().start(consumer);
    }

    private Inbox opened() {
        return Objects.requireNonNull(inbox, "open it first");
    }

    @Override
    public void close() {
        opened().close();
    }
}
