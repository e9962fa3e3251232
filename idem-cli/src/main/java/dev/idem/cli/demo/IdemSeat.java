package dev.idem.cli.demo;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.jdbc.JdbcStore;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The payment consumer with Idem: the inbox decides, this obeys. */
final class IdemSeat implements Seat {
    private static final Logger log = LoggerFactory.getLogger(IdemSeat.class);

    private final Inbox inbox;
    private final Consumer consumer;

    IdemSeat(DataSource dataSource, Charges charges) {
        inbox = Inbox.create(JdbcStore.create(dataSource));
        consumer = Consumer.named("payments")
                .otherwise((message, tx) -> charges.charge(tx.connection(), Delivery.of(message)))
                .build();
    }

    @Override
    public Answer.Settled take(Delivery delivery) {
        Outcome<?> outcome = inbox.accept(consumer, delivery.toMessage());
        if (outcome instanceof Outcome.Failed<?> failed) {
            log.warn("{} failed", delivery.payment().id(), failed.cause());
        }
        return new Answer.Settled(delivery.tag(), outcome.settlement(), outcome instanceof Outcome.Duplicate);
    }

    @Override
    public void close() {
        inbox.close();
    }
}
