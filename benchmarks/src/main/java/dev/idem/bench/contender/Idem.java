package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Transaction;
import java.sql.SQLException;

/** Idem as a service uses it for single messages: a typed handler, the default policy, every guard on. */
final class Idem extends OneByOne {
    private final Inbox inbox;
    private final Consumer consumer;

    Idem(IdemSetup setup) {
        super(setup.name(), setup.emptied().toArray(String[]::new));
        inbox = setup.inbox();
        consumer = IdemSetup.consumer()
                .on(Delivery.TYPE, PaymentRequest::decode, Idem::pay)
                .build();
        inbox.register(consumer);
    }

    @Override
    void handle(Delivery delivery) {
        IdemSetup.check(delivery, inbox.accept(consumer, delivery.message()));
    }

    static String pay(PaymentRequest request, Transaction tx) throws SQLException {
        Payments.pay(tx.connection(), request);
        return request.order();
    }

    @Override
    public void close() {
        inbox.close();
    }
}
