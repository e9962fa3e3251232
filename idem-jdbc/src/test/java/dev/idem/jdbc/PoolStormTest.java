package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.RetryPolicy;
import dev.idem.Settlement;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueStats;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Batches, single messages and workers of both kinds compete for the connections of a pool, and some of their handlers
 * fail. Whatever the pool does when a connection is closed, every effect is there once, and nobody is accused.
 *
 * <p>A pool that hands out the same object again gets more of it. Longer: {@code -Didem.storm.messages=20000}.
 */
class PoolStormTest {
    private static final int FEW = 60;
    private static final int MANY = 400;
    private static final int SIZE = 10;
    private static final int AT_ONCE = 6;
    private static final RetryPolicy SOON = RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(100);

    private final Set<String> failedOnce = ConcurrentHashMap.newKeySet();
    private final Queue<Throwable> accusations = new ConcurrentLinkedQueue<>();
    private int messages;

    static Stream<Arguments> pools() {
        return Stream.of(Database.values())
                .flatMap(database -> Stream.of(TestPool.values()).map(pool -> Arguments.of(database, pool)));
    }

    @ParameterizedTest
    @MethodSource("pools")
    @DisplayName("LV-15 a storm on any pool loses nothing, doubles nothing and accuses nobody")
    void aStormLosesAndDoublesNothing(Database database, TestPool kind) throws Exception {
        messages = Integer.getInteger("idem.storm.messages", kind.handsOutAgain(database) ? MANY : FEW);
        try (Db db = Db.fresh(database);
                TestPool.Opened pool = kind.open(db, SIZE)) {
            try (Inbox inbox =
                    Inbox.builder(db.store(pool.source())).listener(listener()).build()) {
                Consumer taken = stored("taken", QueuePolicy.inTransaction());
                Consumer leased = stored("leased", QueuePolicy.leased(Duration.ofSeconds(30)));
                Consumer door = Consumer.named("door").otherwise(this::pay).build();
                inbox.start(taken);
                inbox.start(leased);
                Together.run(4, i -> switch (i) {
                    case 0 -> untilSettled(messages("taken"), AT_ONCE, batch -> inbox.acceptAll(taken, batch));
                    case 1 -> untilSettled(messages("leased"), AT_ONCE, batch -> inbox.acceptAll(leased, batch));
                    case 2 -> untilSettled(messages("single"), 1, one -> List.of(inbox.accept(door, one.get(0))));
                    default -> untilSettled(messages("batch"), AT_ONCE, batch -> inbox.acceptAll(door, batch));
                });
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> Stream.of("taken", "leased")
                                .map(inbox::queueStats)
                                .allMatch(PoolStormTest::isDone));
            }
            assertThat(accusations)
                    .as("handlers accused of a broken transaction")
                    .isEmpty();
            assertThat(wrong(db)).as("effects that are not there once").isEmpty();
        }
    }

    /** What is leased may still fail, and is pending again then. */
    private static boolean isDone(QueueStats stats) {
        return stats.pending() + stats.inProgress() + stats.held() + stats.parked() == 0;
    }

    private InboxListener listener() {
        return new InboxListener() {
            @Override
            public void transactionBroken(String consumer, BrokenTransactionException cause) {
                accusations.add(cause);
            }
        };
    }

    private Consumer stored(String name, QueuePolicy policy) {
        return Consumer.named(name)
                .queued(policy.withWorkers(2).withBatch(AT_ONCE).withRetry(SOON))
                .otherwise(this::pay)
                .build();
    }

    /** Every third fails once, after it has written. */
    private Object pay(Message message, Transaction tx) throws SQLException {
        String id = message.id().orElseThrow();
        Db.pay(tx.connection(), id);
        if (Math.floorMod(id.hashCode(), 3) == 0 && failedOnce.add(id)) {
            throw new IllegalStateException("the first run fails");
        }
        return null;
    }

    private List<Message> messages(String kind) {
        return ids(kind).map(Db::message).collect(Collectors.toList());
    }

    private Stream<String> ids(String kind) {
        return IntStream.range(0, messages).mapToObj(i -> kind + "-" + i);
    }

    /** As a broker does: what is not acknowledged comes again, and some comes twice. */
    private static boolean untilSettled(List<Message> messages, int atOnce, Delivery delivery) {
        List<Message> open = messages;
        Random random = new Random(1);
        for (int i = 0; i < 50 && !open.isEmpty(); i++) {
            List<Message> again = new ArrayList<>();
            Collections.shuffle(open, random);
            for (int from = 0; from < open.size(); from += atOnce) {
                List<Message> batch = open.subList(from, Math.min(open.size(), from + atOnce));
                List<? extends Outcome<?>> outcomes = delivery.deliver(batch);
                for (int j = 0; j < batch.size(); j++) {
                    if (outcomes.get(j).settlement() != Settlement.ACK || random.nextInt(20) == 0) {
                        again.add(batch.get(j));
                    }
                }
            }
            open = again;
        }
        return true;
    }

    /** What a checker says that reads the business table and nothing else. */
    private Map<String, Integer> wrong(Db db) throws SQLException {
        Map<String, Integer> effects = new TreeMap<>();
        Stream.of("taken", "leased", "single", "batch").flatMap(this::ids).forEach(id -> effects.put(id, 0));
        try (Connection connection = db.plain().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT order_id FROM payment")) {
            while (rows.next()) {
                effects.merge(rows.getString(1), 1, Integer::sum);
            }
        }
        effects.values().removeIf(count -> count == 1);
        return effects;
    }

    @FunctionalInterface
    private interface Delivery {
        List<? extends Outcome<?>> deliver(List<Message> messages);
    }
}
