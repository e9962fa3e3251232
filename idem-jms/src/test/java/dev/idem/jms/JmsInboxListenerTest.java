package dev.idem.jms;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.broker.LetterFilter;
import dev.idem.broker.LetterReplay;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Relay;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
@Timeout(120)
class JmsInboxListenerTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static Artemis artemis;

    private final List<String> handled = Collections.synchronizedList(new ArrayList<>());
    private HikariDataSource pool;
    private Inbox inbox;
    private JmsInboxListener listener;
    private final String queue = "listener-" + System.nanoTime();

    @BeforeAll
    static void startBroker() throws Exception {
        artemis = new Artemis();
    }

    @AfterAll
    static void stopBroker() throws Exception {
        artemis.close();
    }

    @BeforeEach
    void open() {
        PostgresServer server = PostgresServer.shared();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl(server.createDatabase()));
        pool = new HikariDataSource(config);
        inbox = Inbox.create(
                JdbcStore.builder(pool).schemaMode(SchemaMode.CREATE).build());
    }

    @AfterEach
    void close() {
        if (listener != null) {
            listener.close();
        }
        inbox.close();
        pool.close();
    }

    private interface Sending {
        jakarta.jms.Message message(Session session) throws Exception;
    }

    private void send(Sending... messages) throws Exception {
        try (Connection connection = artemis.core().createConnection();
                Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
                MessageProducer producer = session.createProducer(session.createQueue(queue))) {
            for (Sending each : messages) {
                producer.send(each.message(session));
            }
        }
    }

    private static Sending text(String id, String key) {
        return session -> {
            jakarta.jms.Message message = session.createTextMessage("text of " + id);
            message.setStringProperty("messageId", id);
            message.setStringProperty("JMSXGroupID", key);
            return message;
        };
    }

    private Consumer.Builder consumer() {
        return Consumer.named("jms").otherwise((message, tx) -> {
            tx.connection().createStatement().execute("SELECT 1");
            handled.add(message.id().orElseThrow());
            return "";
        });
    }

    private void listen(Consumer consumer, UnaryOperator<JmsInbox.Builder> options) {
        listener = options.apply(JmsInbox.builder(artemis.core(), queue, consumer, inbox))
                .listen();
    }

    private List<Letter> letters() {
        List<Letter> all = new ArrayList<>();
        try (DeadLetters letters = JmsDeadLetters.open(artemis.core(), queue + ".dead-letters")) {
            for (var next = letters.next(); next.isPresent(); next = letters.next()) {
                all.add(next.get());
            }
        }
        return all;
    }

    @Test
    @DisplayName("MQ-13 what a producer sends twice has two JMSMessageIDs and one application id: it is done once")
    void theApplicationsIdCounts() throws Exception {
        send(text("m1", "k"), text("m1", "k"), text("m2", "k"));
        listen(consumer().build(), options -> options);
        await().atMost(LONG).until(() -> artemis.messages(queue) == 0);
        assertThat(handled).containsExactly("m1", "m2");
        assertThat(listener.settled()).isEqualTo(3);
    }

    @Test
    @DisplayName("MQ-13 JMSMessageID is an id only where that is wanted, and copies of ours keep the first one")
    void theBrokersIdWhereWanted() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        List<String> ids = Collections.synchronizedList(new ArrayList<>());
        send(session -> session.createTextMessage("no id"));
        Consumer failingOnce = Consumer.named("jms")
                .otherwise((message, tx) -> {
                    tx.nothingToDo();
                    ids.add(message.id().orElseThrow());
                    if (runs.incrementAndGet() == 1) {
                        throw new IllegalStateException("once");
                    }
                    return "";
                })
                .build();
        listen(failingOnce, options -> options.messageIdOfBroker().retry(RetryPolicy.fixed(Duration.ofMillis(300))));
        await().atMost(LONG).until(() -> artemis.messages(queue) == 0);
        assertThat(runs).hasValue(2);
        assertThat(ids).hasSize(2).allMatch(id -> id.equals(ids.get(0)) && id.startsWith("ID:"));
    }

    @Test
    @DisplayName("an object is not deserialised: it goes to the dead letters as it is, and the others are handled")
    void objectsAreLeftAlone() throws Exception {
        send(
                session -> {
                    jakarta.jms.Message message = session.createObjectMessage((Serializable) "evil");
                    message.setStringProperty("messageId", "object");
                    return message;
                },
                text("m1", "k"));
        listen(consumer().build(), options -> options);
        await().atMost(LONG).until(() -> artemis.messages(queue) == 0);
        assertThat(handled).containsExactly("m1");
        assertThat(letters())
                .singleElement()
                .satisfies(letter ->
                        assertThat(letter.about().detail().orElseThrow()).contains("KEY_MISSING"));
    }

    @Test
    @DisplayName("RO-01 with keepOrder a message that fails holds back its key, and only that")
    void keepingOrder() throws Exception {
        AtomicInteger failures = new AtomicInteger();
        send(text("a1", "a"), text("a2", "a"), text("b1", "b"), text("a3", "a"));
        Consumer failing = Consumer.named("jms")
                .otherwise((message, tx) -> {
                    String id = message.id().orElseThrow();
                    if (id.equals("a1") && failures.incrementAndGet() <= 2) {
                        throw new IllegalStateException("not yet");
                    }
                    tx.nothingToDo();
                    handled.add(id);
                    return "";
                })
                .build();
        listen(failing, options -> options.keepOrder().retry(RetryPolicy.fixed(Duration.ofMillis(50))));
        await().atMost(LONG).until(() -> handled.size() == 4);
        assertThat(handled).containsSubsequence("a1", "a2", "a3").startsWith("b1");
        await().atMost(LONG).until(() -> artemis.messages(queue) == 0);
    }

    @Test
    void acknowledgedOnReceipt() throws Exception {
        send(text("m1", "k"), text("m2", "k"), text("m1", "k"));
        Consumer queued = consumer().queued(QueuePolicy.inTransaction()).build();
        listen(queued, options -> options);
        await().atMost(LONG).until(() -> artemis.messages(queue) == 0);
        assertThat(handled).as("nobody works yet").isEmpty();
        inbox.start(queued);
        await().atMost(LONG).until(() -> handled.size() == 2);
        assertThat(handled).containsExactlyInAnyOrder("m1", "m2");
    }

    @Test
    void severalSessions() throws Exception {
        Sending[] many = new Sending[300];
        for (int i = 0; i < many.length; i++) {
            many[i] = text("m" + i, "k" + i);
        }
        send(many);
        listen(consumer().build(), options -> options.parallelism(3).batch(20));
        await().atMost(LONG).until(() -> handled.size() >= 300 && artemis.messages(queue) == 0);
        assertThat(handled).hasSize(300).doesNotHaveDuplicates();
    }

    @Test
    void closingTwiceAndTheStatesItPasses() throws Exception {
        listen(consumer().build(), options -> options);
        await().atMost(LONG).until(() -> listener.state() == ListenerState.RUNNING);
        listener.close();
        listener.close();
        assertThat(listener.state()).isEqualTo(ListenerState.CLOSED);
    }

    @Test
    void theCodeOfTheGuide() throws Exception {
        AtomicInteger orders = new AtomicInteger();
        send(session -> {
            jakarta.jms.Message message = session.createTextMessage("{}");
            message.setStringProperty("messageId", "o-1");
            message.setJMSType("order-placed");
            return message;
        });
        send(session -> session.createTextMessage("without an id"));
        ConnectionFactory factory = artemis.core();
        // region jms-listen
        Consumer billing = Consumer.named("billing")
                .on("order-placed", PayloadDecoder.message(), (order, tx) -> {
                    try (var insert = tx.connection().prepareStatement("INSERT INTO bill (order_id) VALUES (?)")) {
                        insert.setString(1, order.id().orElseThrow());
                        return insert.executeUpdate();
                    }
                })
                .build();
        JmsInboxListener listener = JmsInbox.builder(factory, queue, billing, inbox)
                .retry(RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofMinutes(5)))
                .parallelism(2)
                .listen();
        // endregion
        this.listener = listener;
        pool.getConnection().createStatement().execute("CREATE TABLE bill (order_id VARCHAR(40))");
        await().atMost(LONG).until(() -> letters().size() == 1 && artemis.messages(queue) == 0);
        String first = letters().get(0).place();
        // region jms-replay
        try (DeadLetters letters = JmsDeadLetters.open(factory, queue + ".dead-letters")) {
            LetterReplay.of(LetterFilter.all().consumer("billing"))
                    .as("anna", "ids are set now", (consumer, action, actor, why, what) -> orders.incrementAndGet())
                    .run(letters, progress -> {});
        }
        // endregion
        assertThat(orders).as("begun and ended").hasValue(2);
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(letters())
                        .as("it still has no id, so a new letter is there")
                        .singleElement()
                        .satisfies(letter -> assertThat(letter.place()).isNotEqualTo(first)));
    }

    @Test
    void thePipelineOfTheGuide() throws Exception {
        Sending order = session -> {
            jakarta.jms.Message message = session.createTextMessage("order-1");
            message.setStringProperty("messageId", "m1");
            message.setJMSType("order-placed");
            return message;
        };
        send(order, order);
        pool.getConnection().createStatement().execute("CREATE TABLE bill (order_id VARCHAR(40))");
        ConnectionFactory factory = artemis.core();
        DataSource dataSource = pool;
        String out = queue + ".out";
        CompletableFuture<Void> shutdown = CompletableFuture.runAsync(
                () -> await().atMost(LONG).until(() -> artemis.messages(out) == 1 && artemis.messages(queue) == 0));
        // region jms-pipeline
        Outbox shipments = Outbox.named("shipments");
        Consumer orders = Consumer.named("orders")
                .publishesTo(shipments)
                .on("order-placed", PayloadDecoder.text(), (text, tx) -> {
                    tx.defer("INSERT INTO bill (order_id) VALUES (?)", text);
                    tx.publish(
                            "shipments",
                            Message.builder()
                                    .type("shipment-requested")
                                    .orderingKey(text)
                                    .payload(tx.message().payload())
                                    .build());
                })
                .build();
        try (JmsPublisher publisher = JmsPublisher.toQueue(factory, out); // closed last
                Inbox inbox = Inbox.create(JdbcStore.create(dataSource));
                JmsInboxListener listener = JmsInbox.listen(factory, queue, orders, inbox)) {
            inbox.start(Relay.of(shipments, publisher));
            shutdown.join(); // until the service is told to end
        }
        // endregion
        assertThat(artemis.messages(out)).isEqualTo(1);
    }

    @Test
    void whatAQueueCannotDoIsRefused() {
        Consumer watermark = Consumer.named("w")
                .watermark()
                .otherwise((Message message, dev.idem.Transaction tx) -> "")
                .build();
        assertThatThrownBy(() -> JmsInbox.builder(artemis.core(), queue, watermark, inbox))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("positions");
        assertThatThrownBy(
                        () -> JmsInbox.builder(artemis.core(), queue, consumer().build(), inbox)
                                .batch(0))
                .hasMessageContaining("batch");
    }
}
