package dev.idem.jms;

import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A queue of the shared broker, an inbox and at most one listener. */
@ExtendWith(SkipWithoutServer.class)
@Timeout(120)
abstract class JmsScene {
    static final Duration LONG = Duration.ofSeconds(60);

    final List<String> handled = Collections.synchronizedList(new ArrayList<>());
    final String queue = "scene-" + System.nanoTime();
    Artemis artemis;
    HikariDataSource pool;
    Inbox inbox;
    JmsInboxListener listener;

    @BeforeEach
    void open() throws Exception {
        artemis = Artemis.shared();
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
            listener.close(Duration.ofSeconds(5));
        }
        inbox.close();
        pool.close();
    }

    /** How to reach the broker, and to settle. */
    enum Way {
        CORE_TRANSACTED,
        AMQP_TRANSACTED,
        AMQP_INDIVIDUAL;

        ConnectionFactory factory(Artemis artemis) {
            return this == CORE_TRANSACTED ? artemis.core() : artemis.amqp();
        }

        Acknowledging acknowledging() {
            return this == AMQP_INDIVIDUAL ? Acknowledging.INDIVIDUAL : Acknowledging.TRANSACTED;
        }
    }

    interface Sending {
        jakarta.jms.Message message(Session session) throws Exception;
    }

    void send(Sending... messages) throws Exception {
        send(artemis.core(), queue, messages);
    }

    static void send(ConnectionFactory factory, String queue, Sending... messages) throws Exception {
        try (Connection connection = factory.createConnection();
                Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
                MessageProducer producer = session.createProducer(session.createQueue(queue))) {
            for (Sending each : messages) {
                producer.send(each.message(session));
            }
        }
    }

    static Sending text(String id, @Nullable String key) {
        return session -> {
            jakarta.jms.Message message = session.createTextMessage("text of " + id);
            message.setStringProperty("messageId", id);
            if (key != null) {
                message.setStringProperty("JMSXGroupID", key);
            }
            return message;
        };
    }

    /** Without ordering keys. */
    static Sending[] texts(Stream<String> ids) {
        return ids.map(id -> text(id, null)).toArray(Sending[]::new);
    }

    interface Effect {
        void of(String id) throws Exception;
    }

    /** Remembers the ids of messages whose effect does not throw. */
    Consumer consumer(Effect effect) {
        return Consumer.named("jms")
                .otherwise((message, tx) -> {
                    tx.nothingToDo();
                    String id = message.id().orElseThrow();
                    effect.of(id);
                    handled.add(id);
                    return "";
                })
                .build();
    }

    void listen(Way way, Consumer consumer, UnaryOperator<JmsInbox.Builder> options) {
        listen(way.factory(artemis), consumer, builder -> options.apply(builder.acknowledging(way.acknowledging())));
    }

    void listen(ConnectionFactory factory, Consumer consumer, UnaryOperator<JmsInbox.Builder> options) {
        listener =
                options.apply(JmsInbox.builder(factory, queue, consumer, inbox)).listen();
    }

    static void until(Callable<Boolean> condition) {
        await().atMost(LONG).until(condition);
    }

    /** Why it waits, or empty. */
    String why() {
        return listener.waiting().map(Object::toString).orElse("");
    }

    List<Letter> letters(String place) {
        List<Letter> all = new ArrayList<>();
        try (DeadLetters letters = JmsDeadLetters.open(artemis.core(), place, JmsMessages.reader(), Set.of(queue))) {
            for (var next = letters.next(); next.isPresent(); next = letters.next()) {
                all.add(next.get());
            }
        }
        return all;
    }

    void empty(String place) throws Exception {
        try (Connection connection = artemis.core().createConnection();
                Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
                var reading = session.createConsumer(session.createQueue(place))) {
            connection.start();
            while (reading.receiveNoWait() != null) {}
        }
    }
}
