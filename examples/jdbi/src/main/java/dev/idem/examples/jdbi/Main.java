package dev.idem.examples.jdbi;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.examples.support.Shop;
import dev.idem.jdbc.JdbcStore;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** Code that opens its own Jdbi transactions stays as it is: inside a handler they become part of Idem's. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        tell(Shop.database(), System.out);
    }

    static void tell(DataSource database, PrintStream out) {
        JdbcStore store = JdbcStore.create(database);
        Till till = new Till(Jdbi.create(store.dataSource()));
        till.open();

        Iterator<Boolean> powerFails = List.of(true, false).iterator();
        Consumer payments = Consumer.named("payments")
                .on("order-placed", PayloadDecoder.text(), (order, tx) -> {
                    till.pay(order, 1999);
                    if (powerFails.next()) {
                        throw new IllegalStateException("the power fails after Jdbi's commit");
                    }
                    return order;
                })
                .build();

        Message message = Message.builder()
                .id("event-1")
                .type("order-placed")
                .payload("order-42".getBytes(StandardCharsets.UTF_8))
                .build();
        try (Inbox inbox = Inbox.create(store)) {
            for (int delivery = 1; delivery <= 3; delivery++) {
                Outcome<?> outcome = inbox.accept(payments, message);
                out.println("Delivery " + delivery + ": " + outcome.getClass().getSimpleName() + ", the broker is told "
                        + outcome.settlement() + ". Cents in the till: " + till.cents());
            }
        }
    }

    /** The business, which knows nothing of Idem. */
    private record Till(Jdbi jdbi) {
        void open() {
            jdbi.useHandle(handle -> handle.execute("CREATE TABLE payment (order_id VARCHAR(20), cents INT)"));
        }

        void pay(String order, int cents) {
            jdbi.useTransaction(handle -> handle.execute("INSERT INTO payment VALUES (?, ?)", order, cents));
        }

        int cents() {
            return jdbi.withHandle(handle -> handle.createQuery("SELECT coalesce(sum(cents), 0) FROM payment")
                    .mapTo(int.class)
                    .one());
        }
    }
}
