package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Transaction;
import dev.idem.batch.BatchTransaction;
import java.sql.SQLException;
import java.util.List;

/** Idem with whole batches, in each of the ways in which handlers can be written for them. */
final class IdemBatch implements Contender {
    static final String BY_POSITION = "payments-by-position";

    private final IdemSetup setup;
    private final int failing;
    private final Inbox inbox;
    private final Consumer consumer;

    private IdemBatch(IdemSetup setup, int failing, Consumer consumer) {
        this.setup = setup;
        this.failing = failing;
        this.consumer = consumer;
        inbox = setup.inbox();
        inbox.register(consumer);
    }

    /** Ordinary handlers, each with statements of its own, isolated from each other. */
    static IdemBatch each(IdemSetup setup, int failing) {
        return new IdemBatch(
                setup,
                failing,
                IdemSetup.consumer()
                        .on(Delivery.TYPE, PaymentRequest::decode, Idem::pay)
                        .build());
    }

    /** The same, but each savepoint takes a round trip of its own. */
    static IdemBatch apart(IdemSetup setup) {
        return new IdemBatch(
                setup,
                0,
                IdemSetup.consumer()
                        .on(Delivery.TYPE, PaymentRequest::decode, (request, tx) -> {
                            Payments.payApart(tx.connection(), request);
                            return request.order();
                        })
                        .build());
    }

    /** Handlers for single messages that hand their statements over. */
    static IdemBatch deferred(IdemSetup setup) {
        return new IdemBatch(
                setup,
                0,
                IdemSetup.consumer()
                        .on(Delivery.TYPE, PaymentRequest::decode, IdemBatch::defer)
                        .build());
    }

    /** One handler for all messages. */
    static IdemBatch together(IdemSetup setup) {
        return new IdemBatch(
                setup,
                0,
                IdemSetup.consumer()
                        .onAll(Delivery.TYPE, PaymentRequest::decode, IdemBatch::payAll)
                        .build());
    }

    /** One handler for all messages, and a mark for each partition instead of a marker for each message. */
    static IdemBatch watermark(IdemSetup setup) {
        return new IdemBatch(
                setup,
                0,
                Consumer.named(BY_POSITION)
                        .watermark()
                        .onAll(Delivery.TYPE, PaymentRequest::decode, IdemBatch::payAll)
                        .build());
    }

    private static String defer(PaymentRequest request, Transaction tx) {
        tx.defer(Payments.INSERT, request.order(), request.cents());
        return request.order();
    }

    private static void payAll(List<PaymentRequest> requests, BatchTransaction tx) throws SQLException {
        Payments.payAll(tx.connection(), requests);
    }

    @Override
    public String name() {
        return setup.name();
    }

    @Override
    public List<String> tables() {
        return setup.emptied();
    }

    @Override
    public int failing() {
        return failing;
    }

    @Override
    public void handle(List<Delivery> batch) {
        List<Outcome<?>> outcomes =
                inbox.acceptAll(consumer, batch.stream().map(Delivery::message).toList());
        for (int i = 0; i < batch.size(); i++) {
            IdemSetup.check(batch.get(i), outcomes.get(i));
        }
    }

    @Override
    public void close() {
        inbox.close();
    }
}
