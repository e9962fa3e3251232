package dev.idem.examples.jooq;

import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

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
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/** jOOQ, set up once on the store's data source, writes in the transaction of the message it is called for. */
public final class Main {
    private static final Table<Record> PAYMENT = table(name("payment"));
    private static final Field<String> ORDER = field(name("order_id"), SQLDataType.VARCHAR(20));

    private Main() {}

    public static void main(String[] args) {
        tell(Shop.database(), SQLDialect.H2, System.out);
    }

    static void tell(DataSource database, SQLDialect dialect, PrintStream out) {
        JdbcStore store = JdbcStore.create(database);
        DSLContext dsl = DSL.using(store.dataSource(), dialect);
        dsl.createTable(PAYMENT).column(ORDER).execute();

        Iterator<Boolean> powerFails = List.of(true, false).iterator();
        Consumer payments = Consumer.named("payments")
                .on("order-placed", PayloadDecoder.text(), (order, tx) -> {
                    dsl.insertInto(PAYMENT, ORDER).values(order).execute();
                    if (powerFails.next()) {
                        throw new IllegalStateException("the power fails");
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
                        + outcome.settlement() + ". Payments: " + dsl.fetchCount(PAYMENT));
            }
        }
    }
}
