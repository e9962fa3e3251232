package dev.idem.jdbc;

import static dev.idem.jdbc.DefectBroker.CONSUMER;
import static dev.idem.jdbc.DefectBroker.acknowledges;
import static dev.idem.jdbc.DefectBroker.deliver;
import static dev.idem.jdbc.DefectBroker.message;
import static dev.idem.jdbc.DefectBroker.once;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Transaction;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;

/** Defects in the SQL: the same scene with the real statements and with one of them changed. */
final class DefectSqlScenes {
    private static final long WAIT_SECONDS = 30;

    private DefectSqlScenes() {}

    /** PostgreSQL: the aborted transaction is "committed", and nobody looked. */
    static DefectReport swallowedError(Db db, boolean planted) {
        JdbcStore store = planted ? DefectStore.withDialect(db, db.plain(), DefectStore::withoutConfirm) : db.store();
        AtomicBoolean first = new AtomicBoolean(true);
        try (Inbox inbox = Inbox.create(store)) {
            deliver(() -> acknowledges(inbox.run(CONSUMER, message("a"), tx -> {
                Db.pay(tx.connection(), "a");
                if (first.getAndSet(false)) {
                    try {
                        DefectBroker.update(tx.connection(), "INSERT INTO nowhere VALUES (1)");
                    } catch (SQLException swallowed) {
                        return; // the handler believes that it is done
                    }
                }
            })));
        }
        return DefectReport.of(db, "a");
    }

    /** MariaDB: after a deadlock the statements go on in another transaction, which has no marker. */
    static DefectReport replacedTransaction(Db db, boolean planted) {
        FaultyDataSource faulty = FaultyDataSource.around(db.plain());
        JdbcStore store = planted
                ? DefectStore.withDialect(db, faulty, DefectStore::withoutConfirm)
                : DefectStore.withDialect(db, faulty, dialect -> dialect);
        AtomicBoolean first = new AtomicBoolean(true);
        try (Inbox inbox = Inbox.create(store)) {
            DefectBroker.Delivery delivery = () -> acknowledges(inbox.run(CONSUMER, message("a"), tx -> {
                if (first.getAndSet(false)) {
                    faulty.arm(1, Fault.SILENT_ROLLBACK);
                }
                Db.pay(tx.connection(), "a");
            }));
            deliver(delivery);
            deliver(delivery); // a duplicate from the producer
        }
        return DefectReport.of(db, "a");
    }

    /** A failover loses the registration of a consumer; a process that starts then gives its number to another. */
    static DefectReport consumersCounted(Db db, boolean planted) throws Exception {
        UnaryOperator<Dialect> change = planted ? DefectStore::countingConsumers : dialect -> dialect;
        try (Failover failover = new Failover(db.kind());
                Inbox running = Inbox.create(DefectStore.withDialect(failover.db(), failover.dataSource(), change))) {
            running.register(Consumer.of(CONSUMER));
            failover.happen();
            deliver(() -> acknowledges(running.run(CONSUMER, message("a"), tx -> Db.pay(tx.connection(), "a"))));
            try (Inbox started = Inbox.create(DefectStore.withDialect(failover.db(), failover.dataSource(), change))) {
                started.register(Consumer.of("mail"));
                deliver(() -> acknowledges(started.run(CONSUMER, message("a"), tx -> Db.pay(tx.connection(), "a"))));
            }
            return DefectReport.of(failover.db(), "a");
        }
    }

    /** PostgreSQL: the read that follows a wait leaves the fingerprint out. */
    static DefectReport fingerprintSkippedAfterAWait(Db db, boolean planted) throws Exception {
        JdbcStore store = !planted
                ? db.store()
                : DefectStore.withDialect(
                        db,
                        db.plain(),
                        d -> DefectStore.statements(
                                d,
                                d.claim(),
                                d.claimJoined(),
                                DefectStore.spoil(d.read(), "fingerprint", "NULL"),
                                d.confirm(),
                                d.confirmAndCommit()));
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try (Inbox owner = Inbox.create(db.store());
                Inbox follower = Inbox.create(store)) {
            CompletableFuture<Boolean> owned = CompletableFuture.supplyAsync(() ->
                    once(() -> acknowledges(owner.run(CONSUMER, message("m", "10 EUR"), tx -> {
                        Db.pay(tx.connection(), "m");
                        running.countDown();
                        await(end);
                    }))));
            await(running);
            CompletableFuture<Outcome<String>> followed = CompletableFuture.supplyAsync(() -> follower.process(
                    Consumer.named(CONSUMER)
                            .policy(Policy.defaults().withBusyWait(Duration.ofSeconds(WAIT_SECONDS)))
                            .build(),
                    message("m", "99 EUR"),
                    tx -> "not granted"));
            Awaitility.await()
                    .atMost(Duration.ofSeconds(WAIT_SECONDS))
                    .until(() -> db.number("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0);
            end.countDown();
            owned.get(WAIT_SECONDS, TimeUnit.SECONDS);
            return DefectReport.wrongIf(!(followed.get(WAIT_SECONDS, TimeUnit.SECONDS) instanceof Outcome.Conflict));
        }
    }

    /** PostgreSQL: the time limit of the claim stays on for the handler's own statements. */
    static DefectReport lockTimeoutLeaks(Db db, boolean planted) throws Exception {
        JdbcStore store = !planted
                ? db.store()
                : DefectStore.withDialect(
                        db,
                        db.plain(),
                        d -> DefectStore.statements(
                                d,
                                DefectStore.spoil(
                                        d.claim(),
                                        "set_config('lock_timeout', current_setting('idem.lock_timeout'), true)",
                                        "NULL"),
                                d.claimJoined(),
                                d.read(),
                                d.confirm(),
                                d.confirmAndCommit()));
        try (Inbox inbox = Inbox.create(store)) {
            Outcome<String> outcome = inbox.process(CONSUMER, message("m"), tx -> {
                try (Statement statement = tx.connection().createStatement();
                        ResultSet rows = statement.executeQuery("SHOW lock_timeout")) {
                    rows.next();
                    return rows.getString(1);
                }
            });
            return DefectReport.wrongIf(!outcome.equals(new Outcome.Processed<>("0")));
        }
    }

    /** PostgreSQL: behind a savepoint the row carries the id of a subtransaction, so a sound unit looks broken. */
    static DefectReport confirmByXmin(Db db, boolean planted) throws Exception {
        JdbcStore store = !planted
                ? db.store()
                : DefectStore.withDialect(
                        db,
                        db.plain(),
                        d -> DefectStore.statements(
                                d,
                                d.claim(),
                                d.claimJoined(),
                                d.read(),
                                DefectStore.spoil(d.confirm(), "pg_current_xact_id_if_assigned()", "xmin"),
                                d.confirmAndCommit()));
        try (Inbox inbox = Inbox.create(store);
                Connection outer = db.plain().getConnection()) {
            outer.setAutoCommit(false);
            inbox.within(outer)
                    .process(CONSUMER, message("m"), tx -> pay(tx, "m"))
                    .confirm();
            outer.commit();
            return DefectReport.of(db, "m");
        } catch (BrokenTransactionException falseAlarm) {
            return DefectReport.wrongIf(true);
        }
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
