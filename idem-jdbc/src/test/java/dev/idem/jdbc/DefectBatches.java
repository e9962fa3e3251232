package dev.idem.jdbc;

import static dev.idem.jdbc.DefectBroker.CONSUMER;
import static dev.idem.jdbc.DefectBroker.message;

import dev.idem.Consumer;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.spi.Batch;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;

/** Defects of batches: the same scene with the real store and with one that does one thing wrong. */
final class DefectBatches {
    private static final int MOST_DELIVERIES = 20;

    private DefectBatches() {}

    /** The first message fails once. Its marker stays, so its redelivery is a duplicate. */
    static DefectReport givenUpMarkerStays(Db db, boolean planted) {
        return firstFailsOnce(
                db,
                !planted
                        ? db.store()
                        : new DefectBatchStore(db.store()) {
                            @Override
                            void giveUp(Batch batch, MarkerKey key) {}
                        });
    }

    /** The first message fails once. What it wrote stays, so its redelivery doubles it. */
    static DefectReport failedUnitStays(Db db, boolean planted) {
        return firstFailsOnce(
                db,
                !planted
                        ? db.store()
                        : new DefectBatchStore(db.store()) {
                            @Override
                            UnitOfWork unit(UnitOfWork real) {
                                return new DefectStore.DefectUnit(real) {
                                    @Override
                                    public void rollback() {
                                        real.close();
                                    }
                                };
                            }
                        });
    }

    private static DefectReport firstFailsOnce(Db db, MarkerStore store) {
        AtomicInteger runs = new AtomicInteger();
        try (Inbox inbox = Inbox.create(store)) {
            deliver(
                    inbox,
                    (message, tx) -> {
                        Db.pay(tx.connection(), id(message));
                        if (id(message).equals("a") && runs.incrementAndGet() == 1) {
                            throw new IllegalStateException("the first run fails");
                        }
                        return null;
                    },
                    message("a"),
                    message("b"));
        }
        return DefectReport.of(db, "a", "b");
    }

    /** The last message swallows an error, which ends the transaction of all of them. */
    static DefectReport swallowedErrorUnnoticed(Db db, boolean planted) {
        MarkerStore store = !planted
                ? db.store()
                : new DefectBatchStore(DefectStore.withDialect(db, db.plain(), DefectStore::withoutConfirm)) {
                    @Override
                    UnitOfWork unit(UnitOfWork real) {
                        return new DefectStore.DefectUnit(real) {
                            @Override
                            public void revoke() {
                                real.close();
                            }
                        };
                    }
                };
        AtomicInteger runs = new AtomicInteger();
        try (Inbox inbox = Inbox.create(store)) {
            deliver(
                    inbox,
                    (message, tx) -> {
                        Db.pay(tx.connection(), id(message));
                        if (id(message).equals("b") && runs.incrementAndGet() == 1) {
                            try {
                                Db.pay(tx.connection(), "x".repeat(200));
                            } catch (SQLException swallowed) {
                                return null;
                            }
                        }
                        return null;
                    },
                    message("a"),
                    message("b"));
        }
        return DefectReport.of(db, "a", "b");
    }

    /** The second message commits and fails. Nobody looks whether the third one's marker was committed with it. */
    static DefectReport committedMarkersNotLookedFor(Db db, boolean planted) {
        MarkerStore store = !planted
                ? db.store()
                : new DefectBatchStore(db.store()) {
                    @Override
                    UnitOfWork unit(UnitOfWork real) {
                        return new DefectStore.DefectUnit(real) {
                            @Override
                            public void rollback() {
                                real.abandon();
                            }
                        };
                    }
                };
        try (Inbox inbox = Inbox.create(store)) {
            Consumer consumer = Consumer.named(CONSUMER)
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), id(message));
                        if (id(message).equals("b")) {
                            tx.connection().prepareStatement("SELECT 1; COMMIT").execute();
                            throw new IllegalStateException("after its commit");
                        }
                        return null;
                    })
                    .build();
            List<Message> messages = List.of(message("a"), message("b"), message("c"));
            inbox.acceptAll(consumer, messages);
            inbox.acceptAll(consumer, messages); // as after a repair of the dead letters
        }
        return DefectReport.of(db, "a", "b", "c");
    }

    /** The second of two orders overtakes the first, because nobody knew that they belong together. */
    static DefectReport orderingKeyForgotten(Db db, boolean planted) {
        List<String> effects = new ArrayList<>();
        AtomicInteger runs = new AtomicInteger();
        Message first =
                message("a").toBuilder().orderingKey(planted ? null : "k").build();
        Message second =
                message("b").toBuilder().orderingKey(planted ? null : "k").build();
        try (Inbox inbox = Inbox.create(db.store())) {
            deliver(
                    inbox,
                    (message, tx) -> {
                        if (id(message).equals("a") && runs.incrementAndGet() == 1) {
                            throw new IllegalStateException("the first run fails");
                        }
                        Db.pay(tx.connection(), id(message));
                        effects.add(id(message));
                        return null;
                    },
                    first,
                    second);
        }
        return DefectReport.wrongIf(!effects.equals(List.of("a", "b")));
    }

    /** Two batches claim the same keys in opposite orders, and the database kills one of them. */
    static DefectReport keysNotSorted(Db db, boolean planted) throws Exception {
        db.execute("CREATE TABLE claims (id VARCHAR(10) PRIMARY KEY)");
        CountDownLatch bothHaveOne = new CountDownLatch(planted ? 2 : 1);
        List<Boolean> deadlocks = Together.run(2, i -> {
            List<String> keys = planted && i == 1 ? List.of("b", "a") : List.of("a", "b");
            try (Connection connection = db.plain().getConnection()) {
                connection.setAutoCommit(false);
                for (String key : keys) {
                    DefectBroker.update(
                            connection, "INSERT INTO claims VALUES ('" + key + "') ON CONFLICT (id) DO NOTHING");
                    bothHaveOne.countDown();
                    Together.await(bothHaveOne);
                }
                connection.commit();
                return false;
            } catch (SQLException deadlock) {
                return deadlock.getSQLState().equals("40P01");
            }
        });
        return DefectReport.wrongIf(deadlocks.contains(true));
    }

    /** A batch is closed once more while the next one has its connection, and the pool takes that one back. */
    static DefectReport closedTwice(Db db, boolean planted) {
        AtomicReference<Connection> taken = new AtomicReference<>();
        List<Batch> closed = new ArrayList<>();
        try (ReusingPool pool = new ReusingPool(1, db.plain())) {
            DataSource source = new UnitDataSource(() -> {
                taken.set(pool.dataSource().getConnection());
                return taken.get();
            });
            MarkerStore store = new DefectBatchStore(db.store(source)) {
                @Override
                void close(Batch batch) {
                    closed.add(batch);
                    batch.close();
                }
            };
            AtomicInteger runs = new AtomicInteger();
            try (Inbox inbox = Inbox.create(store)) {
                Handler<Message, Object> handler = (message, tx) -> {
                    if (id(message).equals("b") && runs.incrementAndGet() == 1) {
                        closed.get(0).close();
                        if (planted) {
                            taken.get().close();
                        }
                    }
                    Db.pay(tx.connection(), id(message));
                    return null;
                };
                deliver(inbox, handler, message("a"));
                deliver(inbox, handler, message("b"));
            }
        }
        return DefectReport.of(db, "a", "b");
    }

    /** A deadlock has undone the transaction with its savepoints, and innocent handlers are suspected. */
    static DefectReport backToASavepointThatIsGone(Db db, boolean planted) {
        Deadlock.prepare(db);
        AtomicInteger startedOver = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        JdbcStore store =
                planted ? DefectStore.withDialect(db, db.plain(), DefectStore::withoutEndingCodes) : db.store();
        try (Inbox inbox = Inbox.builder(store)
                .listener(new InboxListener() {
                    @Override
                    public void ranAgain(String consumer, int nextRun, Throwable cause) {
                        startedOver.incrementAndGet();
                    }
                })
                .build()) {
            deliver(
                    inbox,
                    (message, tx) -> {
                        Db.pay(tx.connection(), id(message));
                        if (id(message).equals("b") && runs.incrementAndGet() == 1) {
                            Deadlock.lose(db, tx.connection());
                        }
                        return null;
                    },
                    message("a"),
                    message("b"),
                    message("c"));
        }
        DefectReport effects = DefectReport.of(db, "a", "b", "c");
        return new DefectReport(effects.lost(), effects.doubled(), startedOver.get() == 1 ? 0 : 1);
    }

    /** As a broker does: what is not acknowledged comes again. */
    private static void deliver(Inbox inbox, Handler<Message, ?> handler, Message... messages) {
        Consumer consumer = Consumer.named(CONSUMER).otherwise(handler).build();
        List<Message> open = List.of(messages);
        for (int i = 0; i < MOST_DELIVERIES && !open.isEmpty(); i++) {
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, open);
            List<Message> again = new ArrayList<>();
            for (int j = 0; j < open.size(); j++) {
                if (outcomes.get(j).settlement() != Settlement.ACK) {
                    again.add(open.get(j));
                }
            }
            open = again;
        }
        if (!open.isEmpty()) {
            throw new AssertionError(open + " not acknowledged after " + MOST_DELIVERIES + " deliveries");
        }
    }

    private static String id(Message message) {
        return message.id().orElseThrow();
    }
}
