package dev.idem.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.StoreException;
import dev.idem.Transaction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/**
 * A consumer to be killed: takes deliveries from a file, in an order of its own, and prints what it acknowledges.
 * Arguments: address of the database, file, seed, threads, how many deliveries it takes at once, and which of the {@link
 * TestPool}s. Each line of the file is a position and a message id.
 */
final class KillConsumer {
    static final String DRAINED = "drained";
    static final int ACCOUNTS = 8;
    private static final long PAUSE_MILLIS = 5;
    private static final String ACCOUNT = "UPDATE account SET payments = payments + 1 WHERE id = ?";
    private static final Consumer BATCHES =
            Consumer.named("payments").otherwise(KillConsumer::payInABatch).build();

    private final Inbox inbox;
    private final Queue<String> deliveries;
    private final AtomicInteger left;
    private final int atOnce;

    private KillConsumer(Inbox inbox, List<String> deliveries, int atOnce) {
        this.atOnce = atOnce;
        this.inbox = inbox;
        this.deliveries = new ConcurrentLinkedQueue<>(deliveries);
        this.left = new AtomicInteger(deliveries.size());
    }

    public static void main(String[] args) throws Exception {
        List<String> deliveries = Files.readAllLines(Path.of(args[1])).stream().collect(Collectors.toList());
        Collections.shuffle(deliveries, new Random(Long.parseLong(args[2])));
        int threads = Integer.parseInt(args[3]);
        try (TestPool.Opened pool = pool(TestPool.valueOf(args[5]), args[0], threads);
                Inbox inbox = Inbox.create(store(pool.source()))) {
            KillConsumer consumer = new KillConsumer(inbox, deliveries, Integer.parseInt(args[4]));
            Thread[] workers = new Thread[threads];
            for (int i = 0; i < threads; i++) {
                workers[i] = new Thread(consumer::work);
                workers[i].start();
            }
            for (Thread worker : workers) {
                worker.join();
            }
        }
        System.out.println(DRAINED);
    }

    private static TestPool.Opened pool(TestPool kind, String url, int size) {
        if (kind == TestPool.REUSING) {
            ReusingPool pool = new ReusingPool(size, Db.plain(url));
            return new TestPool.Opened(pool.dataSource(), pool::close);
        }
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(2_000);
        config.setInitializationFailTimeout(-1);
        HikariDataSource pool = new HikariDataSource(config);
        return new TestPool.Opened(pool, pool::close);
    }

    /** A supervisor would start the process again until the database lets it in; this is the same, but faster. */
    private static JdbcStore store(DataSource source) {
        while (true) {
            try {
                return JdbcStore.builder(source).schemaMode(SchemaMode.NOTHING).build();
            } catch (StoreException notNow) {
                pause();
            }
        }
    }

    private void work() {
        while (left.get() > 0) {
            List<String> taken = new ArrayList<>();
            for (String next = deliveries.poll();
                    next != null;
                    next = taken.size() < atOnce ? deliveries.poll() : null) {
                taken.add(next);
            }
            List<Boolean> acknowledged = acknowledged(taken.stream()
                    .map(delivery -> delivery.substring(delivery.indexOf(' ') + 1))
                    .toList());
            for (int i = 0; i < taken.size(); i++) {
                String delivery = taken.get(i);
                if (acknowledged.get(i)) {
                    left.decrementAndGet();
                    System.out.println(acknowledgement(delivery.substring(0, delivery.indexOf(' '))));
                } else {
                    deliveries.add(delivery);
                }
            }
            if (acknowledged.contains(false) || taken.isEmpty()) {
                pause(); // or another thread still has the last ones
            }
        }
    }

    /** With an end, so that a line the kill has cut off is not taken for another position. */
    static String acknowledgement(String position) {
        return "ack " + position + ".";
    }

    private List<Boolean> acknowledged(List<String> ids) {
        if (atOnce == 1) {
            return ids.stream().map(this::acknowledged).toList();
        }
        List<Message> messages =
                ids.stream().map(id -> Message.of(id, new byte[0])).toList();
        return inbox.acceptAll(BATCHES, messages).stream()
                .map(outcome -> outcome.settlement() == Settlement.ACK)
                .toList();
    }

    private boolean acknowledged(String id) {
        try {
            Outcome<?> outcome = inbox.run("payments", Message.of(id, new byte[0]), tx -> pay(tx, id));
            return outcome.settlement() == Settlement.ACK;
        } catch (Exception comesAgain) {
            return false;
        }
    }

    /** Some write at once, some hand over; now and then one fails. */
    private static Void payInABatch(Message message, Transaction tx) throws SQLException {
        String id = message.id().orElseThrow();
        if (id.hashCode() % 3 == 0) {
            tx.defer("INSERT INTO payment (order_id) VALUES (?)", id);
            tx.defer(ACCOUNT, Math.floorMod(id.hashCode(), ACCOUNTS));
        } else {
            pay(tx, id);
        }
        if (ThreadLocalRandom.current().nextInt(20) == 0) {
            throw new IllegalStateException("now and then");
        }
        return null;
    }

    private static void pay(Transaction tx, String id) throws SQLException {
        Db.pay(tx.connection(), id);
        try (PreparedStatement statement = tx.connection().prepareStatement(ACCOUNT)) {
            statement.setInt(1, Math.floorMod(id.hashCode(), ACCOUNTS));
            statement.executeUpdate();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
