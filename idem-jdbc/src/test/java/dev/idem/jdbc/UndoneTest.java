package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.CommitRefusedException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Settlement;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Units that the database undoes: run again as a whole where that helps, and never taken for a duplicate. */
class UndoneTest {
    private final List<InboxListener.Delivery> settled = new CopyOnWriteArrayList<>();
    private final InboxListener listener = new InboxListener() {
        @Override
        public void settled(Delivery delivery) {
            settled.add(delivery);
        }
    };

    @Test
    @Tag("second-pass")
    @DisplayName("PG-04 of two handlers that would skew each other's reads one is run again as a whole")
    void writeSkewIsRunAgain() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = Inbox.builder(
                                db.store(Db.plain(db.url("options=-c%20default_transaction_isolation=serializable"))))
                        .listener(listener)
                        .build()) {
            db.execute("CREATE TABLE duty (doctor INT PRIMARY KEY, present BOOLEAN)");
            db.execute("INSERT INTO duty VALUES (0, true), (1, true)");
            CountDownLatch bothHaveRead = new CountDownLatch(2);
            List<Outcome<Boolean>> outcomes = Together.run(
                    2,
                    i -> inbox.process("leave", Db.message("doctor-" + i), tx -> {
                        boolean mayLeave = present(tx.connection()) > 1;
                        bothHaveRead.countDown();
                        Together.await(bothHaveRead);
                        if (mayLeave) {
                            update(tx.connection(), "UPDATE duty SET present = false WHERE doctor = " + i);
                        }
                        return mayLeave;
                    }));
            assertThat(outcomes)
                    .containsExactlyInAnyOrder(new Outcome.Processed<>(true), new Outcome.Processed<>(false));
            assertThat(db.number("SELECT count(*) FROM duty WHERE present")).isEqualTo(1);
            assertThat(db.markers()).isEqualTo(2);
            org.awaitility.Awaitility.await().until(() -> settled.size() == 2);
            assertThat(settled)
                    .extracting(InboxListener.Delivery::runs)
                    .contains(1)
                    .anyMatch(runs -> runs > 1);
        }
    }

    @Test
    @DisplayName("PG-04 a serialization failure at COMMIT runs the whole unit again, without an attempt")
    void aFailureAtCommitRunsAgain() throws Exception {
        try (Db db = failingAtCommit("40001", 2);
                Inbox inbox = db.inbox()) {
            AtomicInteger runs = new AtomicInteger();
            assertThat(inbox.process("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        assertThat(tx.run()).isEqualTo(runs.incrementAndGet());
                        return runs.get();
                    }))
                    .isEqualTo(new Outcome.Processed<>(3));
            assertThat(db.payments()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("PG-04 serialization failures without end at COMMIT are trouble of the store, not of the message")
    void failuresAtCommitWithoutEndAreInfrastructure() {
        try (Db db = failingAtCommit("40001", 1_000);
                Inbox inbox = db.inbox()) {
            assertInfrastructure(inbox.accept(paying(3), Db.message("1")));
            assertThat(db.number("SELECT last_value FROM tries")).isEqualTo(3);
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"40001", "40P01"})
    @DisplayName("PG-04 HX-13 serialization failures without end in a handler are trouble of the store, each run fresh")
    void failuresInTheHandlerWithoutEndAreInfrastructure(String state) {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox()) {
            List<Connection> seen = new CopyOnWriteArrayList<>();
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withMaxRuns(3))
                    .otherwise((message, tx) -> {
                        seen.forEach(
                                old -> assertThatThrownBy(old::createStatement).isInstanceOf(SQLException.class));
                        seen.add(tx.connection());
                        assertThat(tx.run()).isEqualTo(seen.size());
                        Db.pay(tx.connection(), "1");
                        try (Statement statement = tx.connection().createStatement()) {
                            return statement.execute(
                                    "DO $$ BEGIN RAISE EXCEPTION 'undone' USING ERRCODE = '" + state + "'; END $$");
                        } catch (SQLException undone) {
                            throw new IllegalStateException("wrapped", undone);
                        }
                    })
                    .build();
            assertInfrastructure(inbox.accept(consumer, Db.message("1")));
            assertThat(seen).hasSize(3);
            assertThat(db.payments()).isZero();
        }
    }

    @Test
    @Tag("second-pass")
    @DisplayName("PG-05 a deferred constraint that fails at COMMIT is the handler's failure, never a duplicate")
    void aDeferredConstraintIsTheHandlersFailure() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox()) {
            db.execute("CREATE TABLE once (v INT UNIQUE DEFERRABLE INITIALLY DEFERRED)");
            Consumer consumer = Consumer.named("payments")
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), "1");
                        return update(tx.connection(), "INSERT INTO once VALUES (1), (1)");
                    })
                    .build();
            Outcome<?> outcome = inbox.accept(consumer, Db.message("1"));
            assertThat(outcome.settlement()).isEqualTo(Settlement.RETRY);
            assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                assertThat(failed.kind()).isEqualTo(Failure.RETRYABLE);
                assertThat(failed.cause())
                        .isInstanceOf(CommitRefusedException.class)
                        .hasMessageContaining("23505");
            });
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
            assertThat(inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @Tag("second-pass")
    @DisplayName("PG-06 the handler's own unique violation passes through and is never a duplicate")
    void aBusinessViolationPassesThrough(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            db.execute("CREATE TABLE once (v INT PRIMARY KEY)", "INSERT INTO once VALUES (1)");
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        update(tx.connection(), "INSERT INTO once VALUES (1)");
                    }))
                    .isInstanceOf(SQLException.class)
                    .satisfies(failure ->
                            assertThat(((SQLException) failure).getSQLState()).startsWith("23"));
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
        }
    }

    private static Consumer paying(int maxRuns) {
        return Consumer.named("payments")
                .policy(Policy.defaults().withMaxRuns(maxRuns))
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), "1");
                    return null;
                })
                .build();
    }

    private static void assertInfrastructure(Outcome<?> outcome) {
        assertThat(outcome.settlement()).isEqualTo(Settlement.RETRY);
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.kind()).isEqualTo(Failure.INFRASTRUCTURE));
    }

    /** The first commits that touch the business table fail; a sequence counts them, for it is never rolled back. */
    private static Db failingAtCommit(String state, int times) {
        Db db = Db.fresh(Database.POSTGRESQL);
        db.execute(
                "CREATE SEQUENCE tries",
                "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('tries') <= " + times
                        + " THEN RAISE EXCEPTION 'scripted' USING ERRCODE = '" + state
                        + "'; END IF; RETURN NULL; END $$",
                "CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON payment DEFERRABLE INITIALLY DEFERRED"
                        + " FOR EACH ROW EXECUTE FUNCTION fail()");
        return db;
    }

    private static int present(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM duty WHERE present")) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private static int update(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }
}
