package dev.idem.examples.hibernate;

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
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.cfg.SchemaToolingSettings;

/** Hibernate's own transactions become part of Idem's: what it flushes commits together with the message's marker. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        tell(Shop.database(), System.out);
    }

    static void tell(DataSource database, PrintStream out) {
        JdbcStore store = JdbcStore.create(database);
        Iterator<Boolean> powerFails = List.of(true, false).iterator();
        try (SessionFactory sessions = sessions(store.dataSource());
                Inbox inbox = Inbox.create(store)) {
            Consumer payments = Consumer.named("payments")
                    .on("order-placed", PayloadDecoder.text(), (order, tx) -> {
                        sessions.inTransaction(session -> session.persist(new Payment(order, 1999)));
                        if (powerFails.next()) {
                            throw new IllegalStateException("the power fails after Hibernate's commit");
                        }
                        return order;
                    })
                    .build();

            Message message = Message.builder()
                    .id("event-1")
                    .type("order-placed")
                    .payload("order-42".getBytes(StandardCharsets.UTF_8))
                    .build();
            for (int delivery = 1; delivery <= 3; delivery++) {
                Outcome<?> outcome = inbox.accept(payments, message);
                out.println("Delivery " + delivery + ": " + outcome.getClass().getSimpleName() + ", the broker is told "
                        + outcome.settlement() + ". Payments: " + count(sessions));
            }
        }
    }

    private static SessionFactory sessions(DataSource dataSource) {
        Configuration configuration = new Configuration();
        configuration.getProperties().put(JdbcSettings.JAKARTA_NON_JTA_DATASOURCE, dataSource);
        configuration.getProperties().put(SchemaToolingSettings.HBM2DDL_AUTO, "create");
        return configuration.addAnnotatedClass(Payment.class).buildSessionFactory();
    }

    private static long count(SessionFactory sessions) {
        return sessions.fromTransaction(
                session -> session.createSelectionQuery("select count(p) from Payment p", Long.class)
                        .getSingleResult());
    }
}
