package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Fingerprint;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Observation;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.Transaction;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.library.GuideShop.Broker;
import dev.idem.jdbc.library.GuideShop.Counters;
import dev.idem.jdbc.library.GuideShop.Payments;
import dev.idem.jdbc.library.GuideShop.Receipt;
import dev.idem.jdbc.schema.Database;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The first half of the guide's snippets; they compile and run here, and {@link DocsTest} compares them. */
class GuideTest {
    private final Bench bench = new Bench(Database.H2);
    private final DataSource dataSource = bench.pool();
    private final Inbox inbox = bench.inbox();
    private final Payments payments = new Payments();
    private final String order = "order-42";
    private final Message message = Message.builder()
            .id("event-1")
            .type("order-placed")
            .version("2")
            .payload("order-42;1999".getBytes(StandardCharsets.UTF_8))
            .header("tenant", "north")
            .build();

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    void twoLines() throws Exception {
        // region two-lines
        Inbox inbox = Inbox.create(JdbcStore.create(dataSource));
        Outcome<Receipt> outcome =
                inbox.process("payment-service", message, tx -> payments.charge(tx.connection(), order));
        // endregion
        Broker broker = new Broker();
        // region settle
        switch (outcome.settlement()) {
            case ACK -> broker.acknowledge(message);
            case RETRY -> broker.deliverAgainLater(message);
            case DEAD_LETTER -> broker.setAside(message);
        }
        // endregion
        assertThat(broker.acknowledged).isEqualTo(1);
    }

    @Test
    void consumer() {
        // region consumer
        Consumer consumer = Consumer.named("payment-service")
                .on("order-placed", "1", PayloadDecoder.text(), (order, tx) -> payments.charge(tx.connection(), order))
                .on("order-placed", "2", OrderPlaced::decode, this::onOrderPlaced)
                .key(KeySelector.identity()) // the default; see Keys
                .build();
        inbox.register(consumer); // once, at start

        Outcome<?> outcome = inbox.accept(consumer, message);
        // endregion
        assertThat(outcome).isInstanceOf(Outcome.Processed.class);
    }

    // region handler
    private Receipt onOrderPlaced(OrderPlaced event, Transaction tx) throws SQLException {
        return payments.charge(tx.connection(), event.order());
    }

    record OrderPlaced(String order, int cents) {
        static OrderPlaced decode(Message message) {
            String[] fields = new String(message.payload(), StandardCharsets.UTF_8).split(";", -1);
            return new OrderPlaced(fields[0], Integer.parseInt(fields[1]));
        }
    }
    // endregion

    @Test
    void keys() {
        // region keys
        KeySelector byDefault = KeySelector.identity(); // the id, and the source if there is one
        KeySelector byId = KeySelector.messageId(); // the id alone, whoever made the message
        KeySelector byEvent = KeySelector.cloudEvent(); // both; a message without a source is rejected
        KeySelector byHeader = KeySelector.header("x-request-id");
        KeySelector byOrder =
                KeySelector.business(m -> List.of(OrderPlaced.decode(m).order(), "capture"));
        KeySelector ofTenant = byId.perTenant(m -> m.header("tenant")); // exactly one, and UTF-8; others are rejected
        KeySelector ordered = byId.timeOrdered(); // every id is a UUIDv7 or ULID; others are rejected
        KeySelector dated = byOrder.withEventTime(); // the event time belongs to the identity
        // endregion
        assertThat(List.of(byId, byOrder, ofTenant))
                .allSatisfy(key -> assertThat(deliver(key)).isInstanceOf(Outcome.Processed.class));
        assertThat(List.of(byEvent, byHeader, ordered, dated))
                .allSatisfy(key -> assertThat(deliver(key)).isInstanceOf(Outcome.Rejected.class));
        Consumer tenants = Consumer.named("tenants").key(ofTenant).build();
        Message twice = message.toBuilder().header("tenant", "other").build();
        assertThat(inbox.process(tenants, twice, tx -> true)).isInstanceOf(Outcome.Rejected.class);
        for (byte malformed : new byte[] {(byte) 0xC0, (byte) 0xC1}) { // both would read as U+FFFD
            Message unreadable = Message.builder()
                    .id("1")
                    .header("tenant", new byte[] {malformed})
                    .build();
            assertThat(inbox.process(tenants, unreadable, tx -> true)).isInstanceOf(Outcome.Rejected.class);
        }
    }

    private Outcome<?> deliver(KeySelector key) {
        return inbox.accept(
                Consumer.named("c" + System.identityHashCode(key))
                        .key(key)
                        .otherwise((m, tx) -> payments.charge(tx.connection(), order))
                        .build(),
                message);
    }

    @Test
    void policy() {
        // region policy
        Policy policy = Policy.defaults()
                .withHandlerTimeout(Duration.ofSeconds(20)) // then the handler's connection is taken away
                .withBusyWait(Duration.ofSeconds(5)) // for a twin that is running now
                .withMaxRuns(3) // after a deadlock or a lost connection, within one delivery
                .withTerminal(Set.of(IllegalArgumentException.class)); // delivering it again would not help
        Consumer consumer = Consumer.named("payment-service").policy(policy).build();
        // endregion
        assertThat(consumer.policy().maxRuns()).isEqualTo(3);
    }

    @Test
    void window() {
        // region window
        Policy policy = Policy.defaults()
                .withWindow(Duration.ofDays(30)) // duplicates are recognised for so long; default 7 days
                .withResultWindow(Duration.ofHours(6)) // of stored results; default a day
                .withUndecidable(Policy.Undecidable.PARK) // older than the horizon: to the dead letters, the default
                .withClockSkew(Duration.ofMinutes(5)); // how far producers' clocks may be ahead
        // endregion
        assertThat(policy.window()).contains(Duration.ofDays(30));
    }

    @Test
    void observe() throws Exception {
        // region observe
        Consumer observed = Consumer.named("payment-service")
                .policy(Policy.defaults().withObserveOnly())
                .build();
        inbox.process(observed, message, tx -> payments.charge(tx.connection(), order));
        inbox.process(observed, message, tx -> payments.charge(tx.connection(), order)); // runs again

        Observation seen = inbox.observations().get("payment-service");
        System.out.println(seen); // a table: would-be duplicates, conflicts, …, how late they came
        Duration window = seen.recommendedWindow();
        // endregion
        assertThat(seen.duplicates()).isEqualTo(1);
        assertThat(window).isEqualTo(Duration.ofDays(7));
    }

    @Test
    void storedResult() throws Exception {
        Consumer consumer = Consumer.of("payment-service");
        inbox.process(consumer, message, ResultCodec.text(), tx -> {
            payments.charge(tx.connection(), order);
            return "receipt-1";
        });
        // region stored-result
        Outcome<String> outcome =
                inbox.process(consumer, message, ResultCodec.text(), tx -> receipt(tx.connection(), order));
        if (outcome instanceof Outcome.Duplicate<String> duplicate) {
            assertThat(duplicate.storedResult()).contains("receipt-1"); // what the first run returned
        }
        // endregion
        assertThat(outcome).isInstanceOf(Outcome.Duplicate.class);
    }

    private static String receipt(Connection connection, String order) {
        throw new AssertionError("a duplicate of " + order + " runs on " + connection);
    }

    @Test
    void keyedFingerprint() {
        byte[] secret = "from the environment".getBytes(StandardCharsets.UTF_8);
        // region keyed-fingerprint
        Policy untrusted = Policy.defaults().withFingerprint(Fingerprint.keyed(secret));
        // endregion
        Consumer consumer = Consumer.named("payment-service").policy(untrusted).build();
        inbox.run(consumer, message, Transaction::nothingToDo);
        assertThat(inbox.process(consumer, message, tx -> true)).isInstanceOf(Outcome.Duplicate.class);
        Message changed = message.toBuilder()
                .payload("order-42;2099".getBytes(StandardCharsets.UTF_8))
                .build();
        assertThat(inbox.process(consumer, changed, tx -> true)).isInstanceOf(Outcome.Conflict.class);
    }

    @Test
    void fingerprint() {
        // region fingerprint
        Policy sameOrder = Policy.defaults()
                .withFingerprint(
                        Fingerprint.of(m -> OrderPlaced.decode(m).order().getBytes(StandardCharsets.UTF_8)));
        // endregion
        Consumer consumer = Consumer.named("payment-service").policy(sameOrder).build();
        inbox.run(consumer, message, Transaction::nothingToDo);
        Message later = message.toBuilder()
                .payload("order-42;2099".getBytes(StandardCharsets.UTF_8))
                .build();
        assertThat(inbox.process(consumer, later, tx -> true)).isInstanceOf(Outcome.Duplicate.class);
    }

    @Test
    void listener() throws SQLException {
        Counters counters = new Counters();
        // region listener
        InboxListener metrics = new InboxListener() {
            @Override
            public void settled(Delivery delivery) {
                counters.count(
                        delivery.consumer(),
                        delivery.type(),
                        delivery.outcome().getClass().getSimpleName());
            }

            @Override
            public void transactionBroken(String consumer, BrokenTransactionException cause) {
                counters.alarm(consumer, cause); // a handler must be mended
            }
        };
        Inbox inbox =
                Inbox.builder(JdbcStore.create(dataSource)).listener(metrics).build();
        // endregion
        inbox.process("payment-service", message, tx -> payments.charge(tx.connection(), order));
        inbox.close(); // waits for the listeners
        assertThat(counters.counted).isEqualTo("payment-service other Processed");
    }
}
