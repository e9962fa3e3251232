package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.queue.QueuePolicy;
import java.util.List;

/** Idem storing messages that nobody handles, a batch or a message in each transaction. */
final class IdemStore implements Contender {
    private final IdemSetup setup;
    private final int together;
    private final Inbox inbox;
    private final Consumer consumer;

    IdemStore(IdemSetup setup, int together) {
        this.setup = setup;
        this.together = together;
        inbox = setup.inbox();
        consumer = IdemSetup.consumer()
                .queued(QueuePolicy.inTransaction())
                .on(Delivery.TYPE, PaymentRequest::decode, Idem::pay)
                .build();
        inbox.register(consumer);
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
    public String effects() {
        return "idem_queue";
    }

    @Override
    public String effectKey() {
        return "message_key";
    }

    @Override
    public int mostTogether() {
        return together;
    }

    @Override
    public void handle(List<Delivery> batch) {
        List<Outcome<?>> outcomes = batch.size() == 1
                ? List.of(inbox.accept(consumer, batch.get(0).message()))
                : inbox.acceptAll(
                        consumer, batch.stream().map(Delivery::message).toList());
        for (int i = 0; i < batch.size(); i++) {
            IdemSetup.checkStored(batch.get(i), outcomes.get(i));
        }
    }

    @Override
    public void close() {
        inbox.close();
    }
}
