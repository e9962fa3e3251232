package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many deliveries of one key at the same time, in one process and in several. */
class HotKeyTest {
    private static final Consumer IMPATIENT = Consumer.named("payments")
            .policy(Policy.defaults().withBusyWait(Duration.ofMillis(200)))
            .build();

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-01 EM-01 a slow owner and 50 duplicates in one process leave the pool to other keys")
    void aHotKeyLeavesThePoolToOthers(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(5))) {
            slowOwner(db, inbox, inbox);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-01 EM-01 a slow owner in another process and 50 duplicates here leave the pool to other keys")
    void aHotKeyOfAnotherProcessLeavesThePoolToOthers(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox elsewhere = db.inbox();
                Inbox here = db.inbox(db.pool(5))) {
            slowOwner(db, elsewhere, here);
        }
    }

    private static void slowOwner(Db db, Inbox owner, Inbox followers) throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Future<Outcome<Object>> first = Together.start(() -> owner.process(IMPATIENT, Db.message("hot"), tx -> {
            Db.pay(tx.connection(), "hot");
            running.countDown();
            Together.await(release);
            return null;
        }));
        Together.await(running);
        Future<List<Outcome<Object>>> duplicates = Together.start(() -> Together.run(50, i -> pay(followers, "hot")));
        List<Future<Outcome<Object>>> others = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            String id = "other-" + i;
            others.add(Together.start(() -> pay(followers, id)));
        }
        for (Future<Outcome<Object>> other : others) {
            assertThat(Together.get(other)).isInstanceOf(Outcome.Processed.class);
        }
        assertThat(Together.get(duplicates)).allMatch(outcome -> outcome instanceof Outcome.Busy);
        release.countDown();
        assertThat(Together.get(first)).isInstanceOf(Outcome.Processed.class);
        assertThat(pay(followers, "hot")).isInstanceOf(Outcome.Duplicate.class);
        assertThat(db.payments("hot")).isEqualTo(1);
        assertThat(db.payments()).isEqualTo(21);
    }

    private static Outcome<Object> pay(Inbox inbox, String id) throws Exception {
        return inbox.process(IMPATIENT, Db.message(id), tx -> {
            Db.pay(tx.connection(), id);
            return null;
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @Tag("second-pass")
    @DisplayName("PG-02 MY-06 the owner rolls back with 32 waiters of other processes: exactly one wins")
    void ofManyWaitersExactlyOneWins(Database database) throws Exception {
        int waiters = 32;
        Consumer patient = Consumer.named("payments")
                .policy(Policy.defaults().withBusyWait(Duration.ofSeconds(20)))
                .build();
        try (Db db = Db.fresh(database);
                Inbox owner = db.inbox()) {
            List<Inbox> inboxes = new ArrayList<>();
            for (int i = 0; i < waiters; i++) {
                inboxes.add(Inbox.create(JdbcStore.builder(db.plain())
                        .schemaMode(SchemaMode.NOTHING)
                        .build()));
            }
            AtomicInteger runs = new AtomicInteger();
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch running = new CountDownLatch(1);
            Future<Outcome<Object>> first = Together.start(() -> owner.process(patient, Db.message("1"), tx -> {
                Db.pay(tx.connection(), "lost");
                running.countDown();
                Together.await(release);
                throw new IllegalStateException("rolls back");
            }));
            Together.await(running);
            Future<List<Outcome<Object>>> rest = Together.start(() -> Together.run(
                    waiters,
                    i -> inboxes.get(i).process(patient, Db.message("1"), tx -> {
                        runs.incrementAndGet();
                        Db.pay(tx.connection(), "won");
                        return null;
                    })));
            db.awaitBlocked(waiters);
            release.countDown();
            assertThatThrownBy(() -> Together.get(first)).hasRootCauseMessage("rolls back");
            List<Outcome<Object>> outcomes = Together.get(rest);
            assertThat(outcomes).filteredOn(Outcome.Processed.class::isInstance).hasSize(1);
            assertThat(outcomes).filteredOn(Outcome.Duplicate.class::isInstance).hasSize(waiters - 1);
            assertThat(db.payments("won")).isEqualTo(1);
            assertThat(db.payments("lost")).isZero();
            inboxes.forEach(Inbox::close);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("MY-06 a handler's failure is told at once, though a waiter has taken the key and is slow")
    void aFailureDoesNotWaitForTheNextOwner(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox owner = db.inbox();
                Inbox waiter = db.inbox()) {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch fail = new CountDownLatch(1);
            CountDownLatch waiterRuns = new CountDownLatch(1);
            CountDownLatch waiterMayEnd = new CountDownLatch(1);
            Future<Outcome<Void>> first = Together.start(() -> owner.run("payments", Db.message("1"), tx -> {
                Db.pay(tx.connection(), "1");
                running.countDown();
                Together.await(fail);
                throw new IllegalStateException("told at once");
            }));
            Together.await(running);
            Future<Outcome<Void>> second = Together.start(() -> waiter.run("payments", Db.message("1"), tx -> {
                Db.pay(tx.connection(), "1");
                waiterRuns.countDown();
                Together.await(waiterMayEnd);
            }));
            db.awaitBlocked(1);
            fail.countDown();
            Together.await(waiterRuns);
            assertThatThrownBy(() -> first.get(10, java.util.concurrent.TimeUnit.SECONDS))
                    .hasRootCauseMessage("told at once");
            waiterMayEnd.countDown();
            assertThat(Together.get(second)).isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments()).isEqualTo(1);
        }
    }

    @Test
    @Tag("second-pass")
    @DisplayName("PG-01 the claim's lock timeout is not the handler's, with a setting of the session and without")
    void theHandlerHasTheSessionsLockTimeout() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox plain = db.inbox();
                Inbox set = db.inbox(Db.plain(db.url("options=-c%20lock_timeout=1234ms")))) {
            assertThat(plain.process("payments", Db.message("1"), tx -> lockTimeout(tx.connection())))
                    .isEqualTo(new Outcome.Processed<>("0"));
            assertThat(set.process("payments", Db.message("2"), tx -> lockTimeout(tx.connection())))
                    .isEqualTo(new Outcome.Processed<>("1234ms"));
        }
    }

    @Test
    @DisplayName("PG-01 a duplicate inside an outer transaction leaves the owner's lock timeout as it was")
    void aJoinedDuplicateLeavesTheLockTimeout() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox();
                Connection outer = db.plain().getConnection()) {
            inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1"));
            outer.setAutoCommit(false);
            assertThat(inbox.within(outer)
                            .process("payments", Db.message("1"), tx -> "never")
                            .outcome())
                    .isInstanceOf(Outcome.Duplicate.class);
            assertThat(lockTimeout(outer)).isEqualTo("0");
            outer.commit();
        }
    }

    @Test
    @DisplayName("MY-07 a lock wait timeout in a handler on MariaDB undoes the whole message, not the statement alone")
    void aLockWaitTimeoutUndoesTheWholeMessage() throws Exception {
        Consumer once = Consumer.named("payments")
                .policy(Policy.defaults().withMaxRuns(1))
                .build();
        try (Db db = Db.fresh(Database.MARIADB);
                Connection blocker = db.plain().getConnection();
                Inbox inbox = db.inbox(Db.plain(db.url("sessionVariables=innodb_lock_wait_timeout=1")))) {
            db.execute("CREATE TABLE account (id INT PRIMARY KEY, amount INT)", "INSERT INTO account VALUES (1, 0)");
            blocker.setAutoCommit(false);
            blocker.createStatement().executeUpdate("UPDATE account SET amount = 1");
            assertThatThrownBy(() -> inbox.process(once, Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        return tx.connection().createStatement().executeUpdate("UPDATE account SET amount = 2");
                    }))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("Lock wait timeout");
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
        }
    }

    private static String lockTimeout(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT current_setting('lock_timeout')")) {
            rows.next();
            return rows.getString(1);
        }
    }
}
