package dev.idem.examples.orders;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.ResultCodec;
import dev.idem.RetryPolicy;
import dev.idem.broker.Publisher;
import dev.idem.broker.Relay;
import dev.idem.examples.support.Shop;
import dev.idem.jdbc.JdbcStore;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.steps.EffectPolicy;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;

/**
 * An order is handled in steps: its goods are reserved, its card is charged, its confirmation is published. The provider is
 * out of reach once, and once its answer is lost; all the same there is one charge and one confirmation.
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        tell(Shop.database(), System.out);
    }

    static void tell(DataSource database, PrintStream out) throws Exception {
        Shop.execute(database, "CREATE TABLE stock (item VARCHAR(20), amount INT)");
        Shop.execute(database, "INSERT INTO stock VALUES ('pen', 10)");
        Cards cards = new Cards(out);

        Outbox confirmations = Outbox.named("confirmations");
        Consumer orders = Consumer.named("orders")
                .queued(QueuePolicy.leased(Duration.ofMinutes(2)).withRetry(RetryPolicy.fixed(Duration.ofMillis(100))))
                .publishesTo(confirmations)
                .onSteps("order-placed", PayloadDecoder.text(), (order, steps) -> {
                    steps.step("reserve", tx -> {
                        out.println("Step: a pen is reserved");
                        tx.defer("UPDATE stock SET amount = amount - 1 WHERE item = 'pen'");
                    });
                    String receipt = steps.effect(
                            "charge-card",
                            EffectPolicy.retryWithSameKey(), // the provider recognises keys
                            ResultCodec.text(),
                            key -> cards.charge(key, order));
                    steps.step("confirm", tx -> {
                        out.println("Step: the confirmation is written");
                        tx.publish("confirmations", event("order-confirmed", receipt));
                    });
                })
                .build();

        List<String> published = new CopyOnWriteArrayList<>();
        Publisher broker = messages -> { // yours is a KafkaPublisher, RabbitPublisher or JmsPublisher
            messages.forEach(message -> published.add(message.type().orElseThrow() + ", " + text(message)));
            return Map.of(); // all of them are confirmed
        };

        Message order =
                event("order-placed", "order-1").toBuilder().id("event-1").build();
        try (Inbox inbox = Inbox.create(JdbcStore.create(database))) {
            for (int delivery = 1; delivery <= 2; delivery++) {
                Outcome<?> outcome = inbox.accept(orders, order);
                out.println("Delivery " + delivery + ": " + outcome.getClass().getSimpleName() + ", the broker is told "
                        + outcome.settlement());
            }
            inbox.start(orders, Relay.of(confirmations, broker));
            while (published.isEmpty()) {
                Thread.sleep(50);
            }
        }
        out.println("Pens left: " + Shop.select(database, "SELECT amount FROM stock"));
        out.println("Charges: " + cards.charges());
        out.println("Published: " + published);
    }

    private static Message event(String type, String text) {
        return Message.builder()
                .type(type)
                .payload(text.getBytes(StandardCharsets.UTF_8))
                .build();
    }

    private static String text(Message message) {
        return new String(message.payload(), StandardCharsets.UTF_8);
    }
}
