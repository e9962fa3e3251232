package dev.idem.jdbc;

import static dev.idem.jdbc.DefectBroker.CONSUMER;
import static dev.idem.jdbc.DefectBroker.acknowledges;
import static dev.idem.jdbc.DefectBroker.deliver;
import static dev.idem.jdbc.DefectBroker.exists;
import static dev.idem.jdbc.DefectBroker.inTransaction;
import static dev.idem.jdbc.DefectBroker.message;
import static dev.idem.jdbc.DefectBroker.once;
import static dev.idem.jdbc.DefectBroker.update;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.FaultPoint;
import dev.idem.test.fault.Direction;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;

/** Consumers that people write by hand, each with the mistake it is known for, beside the inbox in the same scene. */
final class DefectNaive {
    private static final long WAIT_SECONDS = 30;

    private DefectNaive() {}

    private interface Consumer {
        boolean handle(Connection connection, String id, String order) throws Exception;
    }

    /** Two deliveries of each message, in order, by hand or through the inbox. */
    private static DefectReport twice(Db db, boolean planted, Consumer naive, String... ids) throws Exception {
        String[] orders = new String[ids.length];
        try (Inbox inbox = Inbox.create(db.store());
                Connection connection = db.plain().getConnection()) {
            for (int i = 0; i < ids.length; i++) {
                String id = ids[i];
                String order = "order-" + i; // the business table must not merge what the marker table merges
                orders[i] = order;
                DefectBroker.Delivery delivery = planted
                        ? () -> naive.handle(connection, id, order)
                        : () -> acknowledges(inbox.process(CONSUMER, message(id), tx -> pay(tx, order)));
                deliver(delivery);
                deliver(delivery);
            }
        }
        return DefectReport.of(db, orders);
    }

    static DefectReport markerAfterEffect(Db db, boolean planted) throws Exception {
        return crashing(db, planted, (connection, id, crash) -> {
            Db.pay(connection, id);
            crash.run();
            update(connection, "INSERT INTO seen VALUES ('" + id + "')");
        });
    }

    static DefectReport markerBeforeEffect(Db db, boolean planted) throws Exception {
        return crashing(db, planted, (connection, id, crash) -> {
            update(connection, "INSERT INTO seen VALUES ('" + id + "')");
            crash.run();
            Db.pay(connection, id);
        });
    }

    private interface Steps {
        void run(Connection connection, String id, Runnable crash) throws SQLException;
    }

    /** Steps that commit one by one, and a crash between them at the first delivery. */
    private static DefectReport crashing(Db db, boolean planted, Steps naive) throws Exception {
        db.execute("CREATE TABLE seen (id VARCHAR(100) PRIMARY KEY)");
        AtomicBoolean first = new AtomicBoolean(true);
        Runnable crash = () -> {
            if (first.getAndSet(false)) {
                throw new IllegalStateException("crash");
            }
        };
        try (Inbox inbox = Inbox.create(db.store());
                Connection connection = db.plain().getConnection()) {
            deliver(() -> {
                if (!planted) {
                    return acknowledges(inbox.run(CONSUMER, message("a"), tx -> {
                        Db.pay(tx.connection(), "a");
                        crash.run();
                    }));
                }
                if (!exists(connection, "SELECT 1 FROM seen WHERE id = 'a'")) {
                    naive.run(connection, "a", crash);
                }
                return true;
            });
        }
        return DefectReport.of(db, "a");
    }

    /** Both look before either acts. */
    static DefectReport lookThenAct(Db db, boolean planted) throws Exception {
        db.execute("CREATE TABLE seen (id VARCHAR(100) PRIMARY KEY)");
        CyclicBarrier bothLooked = new CyclicBarrier(2);
        try (Inbox inbox = Inbox.create(db.store());
                Inbox other = Inbox.create(db.store())) {
            CompletableFuture<?>[] deliveries = new CompletableFuture<?>[2];
            for (int i = 0; i < 2; i++) {
                Inbox mine = i == 0 ? inbox : other;
                deliveries[i] = CompletableFuture.runAsync(() -> deliver(() -> {
                    if (!planted) {
                        return acknowledges(mine.process(CONSUMER, message("a"), tx -> pay(tx, "a")));
                    }
                    try (Connection connection = db.plain().getConnection()) {
                        boolean seen = exists(connection, "SELECT 1 FROM seen WHERE id = 'a'");
                        bothLooked.await(WAIT_SECONDS, TimeUnit.SECONDS);
                        if (!seen) {
                            Db.pay(connection, "a");
                            once(() -> update(connection, "INSERT INTO seen VALUES ('a')") == 1);
                        }
                        return true;
                    }
                }));
            }
            CompletableFuture.allOf(deliveries).get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
        return DefectReport.of(db, "a");
    }

    /** The handler's own constraint is violated, and the consumer reads "already there". */
    static DefectReport anyViolationIsADuplicate(Db db, boolean planted) {
        db.execute("CREATE TABLE account (id INT PRIMARY KEY)", "INSERT INTO account VALUES (1)");
        AtomicBoolean first = new AtomicBoolean(true);
        try (Inbox inbox = Inbox.create(db.store())) {
            deliver(() -> {
                try {
                    return acknowledges(inbox.run(CONSUMER, message("a"), tx -> {
                        if (first.getAndSet(false)) {
                            update(tx.connection(), "INSERT INTO account VALUES (1)");
                        }
                        Db.pay(tx.connection(), "a");
                    }));
                } catch (SQLException violation) {
                    return planted && violation.getSQLState().startsWith("23");
                }
            });
        }
        return DefectReport.of(db, "a");
    }

    /** MariaDB: to this collation the two ids are one. */
    static DefectReport collationMergesKeys(Db db, boolean planted) throws Exception {
        db.execute("CREATE TABLE seen (id VARCHAR(100) COLLATE utf8mb4_general_ci PRIMARY KEY)");
        return twice(db, planted, DefectNaive::insertIgnore, "Order", "order ");
    }

    /** MariaDB: IGNORE cuts what is too long, and the rest is equal. */
    static DefectReport ignoreTruncates(Db db, boolean planted) throws Exception {
        db.execute("CREATE TABLE seen (id VARBINARY(8) PRIMARY KEY)");
        return twice(db, planted, DefectNaive::insertIgnore, "order-2026-1", "order-2026-2");
    }

    private static boolean insertIgnore(Connection connection, String id, String order) throws Exception {
        return inTransaction(connection, () -> {
            if (update(connection, "INSERT IGNORE INTO seen VALUES ('" + id + "')") == 1) {
                Db.pay(connection, order);
            }
            return true;
        });
    }

    /** MariaDB: with the driver's default the update that changes nothing counts as one row. */
    static DefectReport updateCountTakenForNew(Db db, boolean planted) throws Exception {
        db.execute("CREATE TABLE seen (id VARCHAR(100) PRIMARY KEY)");
        Consumer naive = (connection, id, order) -> inTransaction(connection, () -> {
            if (update(connection, "INSERT INTO seen VALUES ('" + id + "') ON DUPLICATE KEY UPDATE id = id") == 1) {
                Db.pay(connection, order);
            }
            return true;
        });
        return twice(db, planted, naive, "a");
    }

    /** PostgreSQL: another unique index swallows the insert, and no row is taken for "already there". */
    static DefectReport conflictWithoutTarget(Db db, boolean planted) throws Exception {
        db.store();
        db.execute(
                "CREATE TABLE seen (id VARCHAR(100) PRIMARY KEY, payload VARCHAR(100) UNIQUE)",
                "CREATE UNIQUE INDEX unwanted ON idem_marker (fingerprint)");
        try (Inbox inbox = Inbox.create(db.store());
                Connection connection = db.plain().getConnection()) {
            for (String id : new String[] {"a", "b"}) {
                DefectBroker.Delivery delivery = planted
                        ? () -> inTransaction(connection, () -> {
                            String sql = "INSERT INTO seen VALUES ('" + id + "', 'pay') ON CONFLICT DO NOTHING";
                            if (update(connection, sql) == 1) {
                                Db.pay(connection, id);
                            }
                            return true;
                        })
                        : () -> acknowledges(inbox.process(CONSUMER, message(id), tx -> pay(tx, id)));
                if (!once(delivery)) {
                    db.execute("DROP INDEX unwanted"); // a person was told, and looked
                    deliver(delivery);
                }
            }
        }
        return DefectReport.of(db, "a", "b");
    }

    /** The commit was made; to be sure, the work is done once more. */
    static DefectReport lostAnswerRunAgain(Db db, boolean planted) throws Exception {
        FaultyDataSource faulty = FaultyDataSource.around(db.plain());
        JdbcStore store = DefectStore.withDialect(db, faulty, dialect -> dialect);
        AtomicBoolean first = new AtomicBoolean(true);
        try (Inbox inbox = Inbox.builder(store)
                .steps((step, key) -> {
                    if (step == FaultPoint.BEFORE_COMMIT && first.getAndSet(false)) {
                        faulty.arm(2, Fault.CONNECTION_LOST_AFTER);
                    }
                })
                .build()) {
            deliver(() -> {
                if (!planted) {
                    return acknowledges(inbox.process(CONSUMER, message("a"), tx -> pay(tx, "a")));
                }
                while (true) {
                    try (Connection connection = faulty.getConnection()) {
                        connection.setAutoCommit(false);
                        Db.pay(connection, "a");
                        if (first.getAndSet(false)) {
                            faulty.arm(1, Fault.CONNECTION_LOST_AFTER);
                        }
                        connection.commit();
                        return true;
                    } catch (SQLException again) {
                        continue; // "it failed"
                    }
                }
            });
        }
        return DefectReport.of(db, "a");
    }

    /** The commit is on its way; a SELECT finds nothing, and the work is done once more. */
    static DefectReport lostAnswerLookedUp(Db unused, boolean planted) throws Exception {
        try (ProxyBench bench =
                new ProxyBench(Database.POSTGRESQL, "socketTimeout=1").busyWait(Duration.ofMillis(100))) {
            if (!planted) {
                Outcome<String> outcome = bench.deliver(() -> {
                    bench.proxy().stall(Direction.CLIENT_TO_SERVER);
                    bench.goAround();
                });
                bench.proxy().resume(Direction.CLIENT_TO_SERVER);
                if (!acknowledges(outcome)) {
                    bench.redeliver();
                }
                return DefectReport.of(bench.db(), "order-1");
            }
            lookUpAfterLostAnswer(bench);
            return DefectReport.of(bench.db(), "order-1");
        }
    }

    private static void lookUpAfterLostAnswer(ProxyBench bench) throws Exception {
        bench.db().execute("CREATE TABLE seen (id VARCHAR(100) PRIMARY KEY)");
        try (Connection connection = DriverManager.getConnection(bench.proxiedUrl())) {
            connection.setAutoCommit(false);
            update(connection, "INSERT INTO seen VALUES ('order-1')");
            Db.pay(connection, "order-1");
            bench.proxy().stall(Direction.CLIENT_TO_SERVER);
            connection.commit();
            throw new AssertionError("the answer was not lost");
        } catch (SQLException lost) {
            try (Connection connection = bench.db().plain().getConnection()) {
                if (!exists(connection, "SELECT 1 FROM seen WHERE id = 'order-1'")) {
                    Db.pay(connection, "order-1");
                }
            }
        }
        bench.proxy().resume(Direction.CLIENT_TO_SERVER);
        Awaitility.await()
                .atMost(Duration.ofSeconds(WAIT_SECONDS))
                .until(() -> bench.db().number("SELECT count(*) FROM seen") == 1);
    }

    /** MariaDB: a deadlock has undone the first effect; only the second is done again. */
    static DefectReport retryInTheUndoneTransaction(Db db, boolean planted) throws Exception {
        FaultyDataSource faulty = FaultyDataSource.around(db.plain());
        JdbcStore store = DefectStore.withDialect(db, faulty, dialect -> dialect);
        AtomicBoolean first = new AtomicBoolean(true);
        try (Inbox inbox = Inbox.create(store);
                Connection connection = faulty.getConnection()) {
            deliver(() -> {
                if (!planted) {
                    return acknowledges(inbox.run(CONSUMER, message("m"), tx -> {
                        Db.pay(tx.connection(), "a");
                        deadlock(faulty, tx.connection(), first);
                        Db.pay(tx.connection(), "b");
                    }));
                }
                return inTransaction(connection, () -> {
                    Db.pay(connection, "a");
                    try {
                        deadlock(faulty, connection, first);
                        Db.pay(connection, "b");
                    } catch (SQLException retried) {
                        Db.pay(connection, "b");
                    }
                    return true;
                });
            });
        }
        return DefectReport.of(db, "a", "b");
    }

    /** What MariaDB does to the victim of a deadlock: all is rolled back, and the statement fails with 1213. */
    private static void deadlock(FaultyDataSource faulty, Connection connection, AtomicBoolean first)
            throws SQLException {
        if (first.getAndSet(false)) {
            faulty.arm(1, Fault.SILENT_ROLLBACK);
            exists(connection, "SELECT 1");
            throw new SQLException("Deadlock found when trying to get lock", "40001", 1213);
        }
    }

    /** The broker forgets the message before the database knows it. */
    static DefectReport acknowledgedBeforeCommit(Db db, boolean planted) throws Exception {
        AtomicBoolean acknowledged = new AtomicBoolean();
        AtomicBoolean first = new AtomicBoolean(true);
        try (Inbox inbox = Inbox.create(db.store())) {
            while (!acknowledged.get()) {
                once(() -> {
                    Outcome<?> outcome = inbox.run(CONSUMER, message("a"), tx -> {
                        Db.pay(tx.connection(), "a");
                        acknowledged.compareAndSet(false, planted);
                        if (first.getAndSet(false)) {
                            throw new IllegalStateException("crash before the commit");
                        }
                    });
                    acknowledged.set(acknowledges(outcome));
                    return true;
                });
            }
        }
        return DefectReport.of(db, "a");
    }

    private static String pay(Transaction tx, String order) throws SQLException {
        Db.pay(tx.connection(), order);
        return order;
    }
}
