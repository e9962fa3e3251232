package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.broker.Letter;
import dev.idem.jdbc.JdbcStore;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A queue, a database, and a consumer whose effects and runs are counted. */
final class Scene implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    final Bench bench;
    final HikariDataSource database = Bench.database();
    final Inbox inbox = Inbox.create(JdbcStore.create(database));
    /** The messages with which the handler was called, failing calls included. */
    final List<Message> runs = Collections.synchronizedList(new ArrayList<>());

    private final List<RabbitInboxListener> listeners = new ArrayList<>();

    Scene() throws Exception {
        this(Map.of());
    }

    Scene(Map<String, Object> queueArguments) throws Exception {
        bench = new Bench(queueArguments);
        Bench.execute(database, "CREATE TABLE effect (id VARCHAR(100), number SERIAL)");
    }

    @FunctionalInterface
    interface Before {
        void handle(Message message) throws Exception;
    }

    Consumer.Builder consumer(Before before) {
        return Consumer.named("payments").otherwise((message, tx) -> {
            runs.add(message);
            before.handle(message);
            try (PreparedStatement insert = tx.connection().prepareStatement("INSERT INTO effect (id) VALUES (?)")) {
                insert.setString(1, message.id().orElse("none"));
                insert.executeUpdate();
            }
            return "";
        });
    }

    /** A handler on its own in each transaction, so that what it says about runs is exact. */
    Consumer single(Before before) {
        return consumer(before)
                .policy(Policy.defaults().withBatchLimits(1, 1_000_000))
                .build();
    }

    RabbitInboxListener listen(UnaryOperator<RabbitInbox.Builder> how, Consumer consumer) {
        return listen(bench.factory, how, consumer);
    }

    RabbitInboxListener listen(ConnectionFactory factory, UnaryOperator<RabbitInbox.Builder> how, Consumer consumer) {
        RabbitInbox.Builder builder =
                RabbitInbox.builder(factory, bench.queue, consumer, inbox).delays();
        return keep(how.apply(builder).listen());
    }

    /** Closes it at the end. */
    RabbitInboxListener keep(RabbitInboxListener listener) {
        listeners.add(listener);
        return listener;
    }

    List<String> effects() throws Exception {
        List<String> ids = new ArrayList<>();
        try (var connection = database.getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT id FROM effect ORDER BY number")) {
            while (rows.next()) {
                ids.add(rows.getString(1));
            }
        }
        return ids;
    }

    List<Letter> letters() {
        List<Letter> all = new ArrayList<>();
        try (RabbitDeadLetters letters = bench.deadLetters()) {
            for (Optional<Letter> next = letters.next(); next.isPresent(); next = letters.next()) {
                all.add(next.get());
            }
        }
        return all;
    }

    /** Each message has its effect once, and the broker has forgotten all of them. */
    void awaitEachOnce(int count) throws Exception {
        until(count + " effects", () -> effects().size() >= count);
        until("all is settled", () -> bench.messages() == 0);
        assertThat(effects()).hasSize(count).doesNotHaveDuplicates();
    }

    @FunctionalInterface
    interface Condition {
        boolean holds() throws Exception;
    }

    static void until(String what, Condition condition) throws Exception {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("waited too long for: " + what).isLessThan(deadline);
            Thread.sleep(50);
        }
    }

    @Override
    public void close() throws Exception {
        listeners.forEach(listener -> listener.close(Duration.ofSeconds(5)));
        inbox.close();
        bench.close();
        database.close();
    }
}
