package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.Transaction;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Idem as a service uses it: a typed handler, the default policy, every guard on. */
final class Idem extends OneByOne {
    static final String CONSUMER = "payments";
    static final String TYPE = "payment-requested";

    private final Inbox inbox;
    private final Consumer consumer;

    Idem(String name, DataSource dataSource, String prefix, String... emptied) {
        super(name, emptied);
        inbox = Inbox.create(JdbcStore.builder(dataSource)
                .prefix(prefix)
                .schemaMode(SchemaMode.ALWAYS)
                .build());
        consumer = Consumer.named(CONSUMER)
                .on(TYPE, PayloadDecoder.text(), Idem::pay)
                .build();
        inbox.register(consumer);
    }

    Idem(DataSource dataSource) {
        this("idem", dataSource, "idem_", "idem_marker");
    }

    @Override
    void handle(Delivery delivery) {
        Outcome<?> outcome = inbox.accept(consumer, message(delivery));
        if (outcome instanceof Outcome.Failed<?> failed) {
            throw new IllegalStateException(delivery.id() + " failed", failed.cause());
        }
    }

    static Message message(Delivery delivery) {
        return Message.builder()
                .id(delivery.id())
                .type(TYPE)
                .payload(delivery.payload().getBytes(StandardCharsets.UTF_8))
                .build();
    }

    private static String pay(String payload, Transaction tx) throws SQLException {
        int space = payload.indexOf(' ');
        String order = payload.substring(0, space);
        Payments.pay(tx.connection(), order, Long.parseLong(payload.substring(space + 1)));
        return order;
    }

    @Override
    public void close() {
        inbox.close();
    }
}
