package dev.idem.jdbc;

import static dev.idem.jdbc.DefectBroker.CONSUMER;
import static dev.idem.jdbc.DefectBroker.acknowledges;
import static dev.idem.jdbc.DefectBroker.deliver;
import static dev.idem.jdbc.DefectBroker.message;
import static dev.idem.jdbc.DefectBroker.once;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Policy;
import dev.idem.Transaction;
import dev.idem.jdbc.internal.guard.Guard;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoredResult;
import dev.idem.spi.UnitOfWork;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;

/** Defects between inbox and store: the same scene with the real store and with one that does one thing wrong. */
final class DefectScenes {
    private static final long WAIT_SECONDS = 30;

    private DefectScenes() {}

    /** The follower hears "busy" and acknowledges the message of an owner that then rolls back. */
    static DefectReport busyTakenForDuplicate(Db db, boolean planted) throws Exception {
        MarkerStore store = !planted
                ? db.store()
                : new DefectStore(db.store()) {
                    @Override
                    public Claim claim(ClaimRequest request) {
                        Claim claim = super.claim(request);
                        return claim instanceof Claim.Busy ? inventedMarker() : claim;
                    }
                };
        Consumer impatient = Consumer.named(CONSUMER)
                .policy(Policy.defaults().withBusyWait(Duration.ofMillis(100)))
                .build();
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try (Inbox owner = Inbox.create(db.store());
                Inbox follower = Inbox.create(store)) {
            CompletableFuture<Boolean> owned = CompletableFuture.supplyAsync(() ->
                    once(() -> acknowledges(owner.run(CONSUMER, message("order-1"), tx -> {
                        Db.pay(tx.connection(), "order-1");
                        running.countDown();
                        await(end);
                        throw new IllegalStateException("the owner fails");
                    }))));
            await(running);
            DefectBroker.Delivery delivery =
                    () -> acknowledges(follower.process(impatient, message("order-1"), tx -> pay(tx, "order-1")));
            boolean acknowledged = once(delivery);
            end.countDown();
            owned.get(WAIT_SECONDS, TimeUnit.SECONDS);
            if (!acknowledged) {
                deliver(delivery);
            }
        }
        return DefectReport.of(db, "order-1");
    }

    /** The cache knows the key before the database does. */
    static DefectReport cacheFilledBeforeCommit(Db db, boolean planted) {
        Set<MarkerKey> cache = ConcurrentHashMap.newKeySet();
        MarkerStore store = !planted
                ? db.store()
                : new DefectStore(db.store()) {
                    @Override
                    public Claim claim(ClaimRequest request) {
                        return cache.add(request.key()) ? super.claim(request) : inventedMarker();
                    }
                };
        AtomicBoolean first = new AtomicBoolean(true);
        try (Inbox inbox = Inbox.create(store)) {
            deliver(() -> acknowledges(inbox.run(CONSUMER, message("order-1"), tx -> {
                Db.pay(tx.connection(), "order-1");
                if (first.getAndSet(false)) {
                    throw new IllegalStateException("the first run fails");
                }
            })));
        }
        return DefectReport.of(db, "order-1");
    }

    /** The commit never arrived, but "it will have worked". */
    static DefectReport unknownCommitTakenForSuccess(Db db, boolean planted) {
        FaultyDataSource faulty = FaultyDataSource.around(db.plain());
        JdbcStore real = DefectStore.withDialect(db, faulty, dialect -> dialect);
        MarkerStore store = !planted
                ? real
                : new DefectStore(real) {
                    @Override
                    UnitOfWork unit(UnitOfWork granted) {
                        return new DefectUnit(granted) {
                            @Override
                            public void commit(StoredResult result) {
                                try {
                                    super.commit(result);
                                } catch (CommitUnknownException hopeful) {
                                    return;
                                }
                            }
                        };
                    }
                };
        AtomicBoolean first = new AtomicBoolean(true);
        try (Inbox inbox = Inbox.builder(store)
                .steps((step, key) -> {
                    if (step == FaultPoint.BEFORE_COMMIT && first.getAndSet(false)) {
                        faulty.arm(2, Fault.CONNECTION_LOST_BEFORE);
                    }
                })
                .build()) {
            deliver(() -> acknowledges(inbox.process(CONSUMER, message("a"), tx -> pay(tx, "a"))));
        }
        return DefectReport.of(db, "a");
    }

    /** The handler commits by itself and dies before its second effect. */
    static DefectReport handlerCommits(Db db, boolean planted) {
        AtomicReference<Connection> raw = new AtomicReference<>();
        DataSource remembering = new UnitDataSource(() -> {
            raw.set(db.plain().getConnection());
            return raw.get();
        });
        AtomicBoolean first = new AtomicBoolean(true);
        try (Inbox inbox = Inbox.create(unguarded(db, remembering, raw, planted))) {
            deliver(() -> acknowledges(inbox.run(CONSUMER, message("m"), tx -> {
                Db.pay(tx.connection(), "a");
                if (first.getAndSet(false)) {
                    tx.connection().commit();
                    throw new IllegalStateException("dies between its effects");
                }
                Db.pay(tx.connection(), "b");
            })));
        }
        return DefectReport.of(db, "a", "b");
    }

    /** A thread of a failed handler wakes up and writes into the transaction of the next message. */
    static DefectReport strayThread(Db db, boolean planted) throws Exception {
        try (Connection only = db.plain().getConnection()) {
            AtomicReference<Connection> raw = new AtomicReference<>(only);
            Connection neverClosed = Guard.proxy(
                    Connection.class,
                    (proxy, method, args) -> method.getName().equals("close") ? null : method.invoke(only, args));
            AtomicReference<Connection> stray = new AtomicReference<>();
            try (Inbox inbox = Inbox.create(unguarded(db, new UnitDataSource(() -> neverClosed), raw, planted))) {
                once(() -> acknowledges(inbox.run(CONSUMER, message("a"), tx -> {
                    stray.set(tx.connection());
                    throw new IllegalStateException("gives up, but its thread does not");
                })));
                deliver(() -> acknowledges(inbox.run(CONSUMER, message("b"), tx -> {
                    once(() -> {
                        Db.pay(stray.get(), "a");
                        return true;
                    });
                    Db.pay(tx.connection(), "b");
                })));
                deliver(() -> acknowledges(inbox.process(CONSUMER, message("a"), tx -> pay(tx, "a"))));
            }
        }
        return DefectReport.of(db, "a", "b");
    }

    private static MarkerStore unguarded(Db db, DataSource source, AtomicReference<Connection> raw, boolean planted) {
        JdbcStore real = DefectStore.withDialect(db, source, dialect -> dialect);
        return !planted
                ? real
                : new DefectStore(real) {
                    @Override
                    UnitOfWork unit(UnitOfWork granted) {
                        return new DefectUnit(granted) {
                            @Override
                            public Connection connection() {
                                return raw.get();
                            }

                            @Override
                            public boolean used() {
                                return true; // through the raw one
                            }
                        };
                    }
                };
    }

    /** Two consumers of one event share a key, and one of them never runs. */
    static DefectReport consumerMissingFromTheKey(Db db, boolean planted) {
        MarkerStore store = !planted
                ? db.store()
                : new DefectStore(db.store()) {
                    @Override
                    public Claim claim(ClaimRequest request) {
                        MarkerKey key = request.key();
                        return super.claim(new ClaimRequest(
                                new MarkerKey("everybody", key.value(), key.readable()),
                                request.fingerprint(),
                                request.busyWait(),
                                request.withResult()));
                    }
                };
        try (Inbox inbox = Inbox.create(store)) {
            for (String consumer : new String[] {"billing", "shipping"}) {
                deliver(() -> acknowledges(inbox.process(consumer, message("m"), tx -> pay(tx, consumer))));
            }
        }
        return DefectReport.of(db, "billing", "shipping");
    }

    private static String pay(Transaction tx, String order) throws SQLException {
        Db.pay(tx.connection(), order);
        return order;
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(WAIT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("nobody came");
        }
    }
}
