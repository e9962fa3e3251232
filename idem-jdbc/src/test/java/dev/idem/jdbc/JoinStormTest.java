package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.JoinedFailure;
import dev.idem.join.JoinedInbox;
import dev.idem.join.Provisional;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Owners of transactions let messages join, several at once, some inside others, beside messages that have transactions of
 * their own; handlers fail, and owners roll back or try to commit what failed. Longer: {@code -Didem.storm.messages=2000}.
 */
class JoinStormTest {
    private static final int SIZE = 6;
    private static final int THREADS = 3;
    private static final int MESSAGES = Integer.getInteger("idem.storm.messages", 60);

    private final Set<String> failedOnce = ConcurrentHashMap.newKeySet();
    private final Queue<Throwable> accusations = new ConcurrentLinkedQueue<>();

    static Stream<Arguments> pools() {
        return Stream.of(Database.values())
                .flatMap(database -> Stream.of(TestPool.values()).map(pool -> Arguments.of(database, pool)));
    }

    @ParameterizedTest
    @MethodSource("pools")
    @DisplayName("LV-15 HX-08 a storm of joined messages on any pool loses nothing, doubles nothing and accuses nobody")
    void aStormLosesAndDoublesNothing(Database database, TestPool kind) throws Exception {
        InboxListener listener = new InboxListener() {
            @Override
            public void transactionBroken(String consumer, BrokenTransactionException cause) {
                accusations.add(cause);
            }
        };
        try (Db db = Db.fresh(database);
                TestPool.Opened pool = kind.open(db, SIZE);
                JdbcStore store = db.store(pool.source());
                Inbox inbox = Inbox.builder(store).listener(listener).build()) {
            inbox.register(Consumer.of("payments"));
            Together.run(THREADS, i -> {
                // Owners get their connections from the pool itself, or as a library does that knows the store.
                DataSource source = i % 2 == 0 && endsConnections(database, kind) ? pool.source() : store.dataSource();
                return new Owner(inbox, source, new Random(i)).deliver(i);
            });
            assertThat(accusations).isEmpty();
            assertThat(db.payments()).isEqualTo((long) THREADS * MESSAGES);
            assertThat(db.number("SELECT count(*) - count(DISTINCT order_id) FROM payment"))
                    .isZero();
            assertThat(db.markers()).isEqualTo((long) THREADS * MESSAGES);
        }
    }

    /**
     * Whether the owner's connection can be ended for a message that failed. H2 cannot, so the owner's is closed, and must not
     * be handed out again while its owner has it; and c3p0 does not replace a connection that was aborted.
     */
    private static boolean endsConnections(Database database, TestPool kind) {
        return kind != TestPool.C3P0 && (database != Database.H2 || !kind.handsOutAgain(database));
    }

    /** One thread that owns transactions, one after the other. */
    private final class Owner {
        private final Inbox inbox;
        private final DataSource source;
        private final Random random;

        private Owner(Inbox inbox, DataSource source, Random random) {
            this.inbox = inbox;
            this.source = source;
            this.random = random;
        }

        private boolean deliver(int thread) throws SQLException {
            List<Message> open = new ArrayList<>(IntStream.range(0, MESSAGES)
                    .mapToObj(i -> Db.message(thread + "-" + i))
                    .toList());
            while (!open.isEmpty()) {
                int next = Math.min(open.size(), 1 + random.nextInt(3));
                List<Message> some = List.copyOf(open.subList(0, next));
                open.subList(0, next).clear();
                if (next == 1) {
                    retry(open, some, alone(some.get(0)));
                } else {
                    retry(open, some, together(some));
                }
            }
            return true;
        }

        private void retry(List<Message> open, List<Message> some, List<Settlement> settlements) {
            for (int i = 0; i < some.size(); i++) {
                if (settlements.get(i) != Settlement.ACK) {
                    open.add(some.get(i));
                }
            }
        }

        private List<Settlement> alone(Message message) {
            Consumer consumer = Consumer.named("payments")
                    .otherwise(JoinStormTest.this::pay)
                    .build();
            return List.of(inbox.accept(consumer, message).settlement());
        }

        private List<Settlement> together(List<Message> some) throws SQLException {
            List<Provisional<?>> answers = new ArrayList<>();
            boolean committed = false;
            try (Connection outer = source.getConnection()) {
                outer.setAutoCommit(false);
                JoinedFailure onFailure =
                        random.nextBoolean() ? JoinedFailure.ROLLBACK_ONLY : JoinedFailure.UNDO_TO_SAVEPOINT;
                JoinedInbox joined = inbox.within(outer, onFailure);
                Consumer consumer = Consumer.named("payments")
                        .otherwise(JoinStormTest.this::pay)
                        .build();
                for (Message message : some) {
                    answers.add(joined.accept(consumer, message));
                }
                committed = ends(outer, answers);
                outer.setAutoCommit(true);
            } catch (SQLException refused) {
                committed = false; // or the pool's connection was one that had to be closed before
            }
            List<Settlement> settlements = new ArrayList<>();
            for (int i = 0; i < some.size(); i++) {
                settlements.add(i < answers.size() ? answers.get(i).settlement(committed) : Settlement.RETRY);
            }
            return settlements;
        }

        /** Tries to commit nearly always, whatever has failed. */
        private boolean ends(Connection outer, List<Provisional<?>> answers) throws SQLException {
            if (random.nextInt(6) == 0) {
                outer.rollback();
                return false;
            }
            boolean sound = answers.stream().noneMatch(answer -> answer.outcome() instanceof Outcome.Failed);
            if (sound && random.nextBoolean()) {
                answers.forEach(Provisional::confirm);
            }
            outer.commit();
            return true;
        }
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
}
