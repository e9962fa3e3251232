package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.TransientStoreException;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The unique index decides, at every isolation level and with every snapshot. */
public class IsolationTest {
    private static final Consumer PATIENT = Consumer.named("payments")
            .policy(Policy.defaults().withBusyWait(Duration.ofSeconds(10)))
            .build();

    static Stream<Arguments> cases() {
        List<Arguments> cases = new ArrayList<>();
        for (Database database : Database.values()) {
            for (int level : new int[] {
                Connection.TRANSACTION_READ_COMMITTED,
                Connection.TRANSACTION_REPEATABLE_READ,
                Connection.TRANSACTION_SERIALIZABLE
            }) {
                for (boolean commits : new boolean[] {true, false}) {
                    cases.add(Arguments.of(database, level, commits));
                }
            }
        }
        return cases.stream();
    }

    @ParameterizedTest(name = "{0}, level {1}, owner commits: {2}")
    @MethodSource("cases")
    @DisplayName(
            "PG-03 PG-09 MY-05 EM-02 a follower whose snapshot is older than the owner's end runs once or is a duplicate")
    void aFollowerThatWaitedIsRight(Database database, int level, boolean commits) throws Exception {
        CountDownLatch claiming = new CountDownLatch(1);
        try (Db db = Db.fresh(database);
                Inbox owner = db.inbox(at(level, db));
                Inbox follower = Inbox.builder(db.store(at(level, db)))
                        .steps((step, key) -> claiming.countDown())
                        .build()) {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Future<Outcome<Object>> first = Together.start(() -> owner.process(PATIENT, Db.message("1"), tx -> {
                Db.pay(tx.connection(), "1");
                running.countDown();
                Together.await(end);
                if (!commits) {
                    throw new IllegalStateException("rolls back");
                }
                return null;
            }));
            Together.await(running);
            Future<Outcome<Object>> second = Together.start(() -> pay(follower));
            Together.await(claiming);
            if (database != Database.H2) { // which tries again and again, and tells nobody
                db.awaitBlocked(1);
            }
            end.countDown();
            if (commits) {
                assertThat(Together.get(first)).isInstanceOf(Outcome.Processed.class);
                assertThat(Together.get(second)).isInstanceOf(Outcome.Duplicate.class);
            } else {
                assertThatThrownBy(() -> Together.get(first)).hasRootCauseMessage("rolls back");
                assertThat(Together.get(second)).isInstanceOf(Outcome.Processed.class);
            }
            assertThat(pay(follower)).isInstanceOf(Outcome.Duplicate.class);
            assertThat(db.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @CsvSource({"MARIADB, 4", "H2, 2", "H2, 4"})
    @DisplayName("MY-05 a joined claim recognises a duplicate that its old snapshot cannot see")
    void aJoinedClaimSeesBeyondItsSnapshot(Database database, int level) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox();
                Connection outer = at(level, db).getConnection()) {
            inbox.register(PATIENT);
            outer.setAutoCommit(false);
            outer.createStatement().executeQuery("SELECT * FROM payment").close();
            assertThat(pay(inbox)).isInstanceOf(Outcome.Processed.class);
            assertThat(inbox.within(outer)
                            .process(PATIENT, Db.message("1"), tx -> "never")
                            .outcome())
                    .isInstanceOf(Outcome.Duplicate.class);
            outer.rollback();
        }
    }

    @ParameterizedTest
    @CsvSource({"POSTGRESQL, 4", "POSTGRESQL, 8", "H2, 8"})
    @DisplayName(
            "PG-03 EM-02 PG-40 a joined claim that its snapshot cannot explain fails, and is neither granted nor a duplicate")
    void aJoinedClaimThatCannotBeExplainedFails(Database database, int level) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox();
                Connection outer = at(level, db).getConnection()) {
            inbox.register(PATIENT);
            outer.setAutoCommit(false);
            outer.createStatement().executeQuery("SELECT * FROM payment").close();
            assertThat(pay(inbox)).isInstanceOf(Outcome.Processed.class);
            assertThatThrownBy(() -> inbox.within(outer).process(PATIENT, Db.message("1"), tx -> "never"))
                    .isInstanceOf(dev.idem.StoreException.class);
            outer.rollback();
            assertThat(inbox.within(outer)
                            .process(PATIENT, Db.message("1"), tx -> "never")
                            .outcome())
                    .isInstanceOf(Outcome.Duplicate.class);
        }
    }

    @Test
    @DisplayName("PG-40 a serialization failure inside an outer transaction is not retried there")
    void nothingIsRetriedInsideAnOuterTransaction() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox();
                Connection outer = db.plain().getConnection()) {
            outer.setAutoCommit(false);
            List<Integer> runs = new ArrayList<>();
            assertThatThrownBy(() -> inbox.within(outer).process(PATIENT, Db.message("1"), tx -> {
                        runs.add(tx.run());
                        throw new java.sql.SQLException("scripted", "40001");
                    }))
                    .hasMessage("scripted")
                    .isNotInstanceOf(TransientStoreException.class);
            assertThat(runs).containsExactly(1);
            assertThat(outer.isClosed()).as("its owner cannot commit").isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("levels")
    @DisplayName("MY-05 in a replay, a message that is done while its markers are read is a duplicate with its result")
    void aReplayFindsResultsThatAreNewerThanItsLook(Database database, int level) throws Exception {
        Consumer consumer = Consumer.named("payments")
                .on(
                        "pay",
                        message -> message,
                        (message, tx) -> {
                            Db.pay(tx.connection(), message.id().orElseThrow());
                            return "receipt " + message.id().orElseThrow();
                        },
                        ResultCodec.text())
                .build();
        List<Message> known = List.of(typed("1"), typed("2"));
        try (Db db = Db.fresh(database);
                Inbox elsewhere = db.inbox(at(level, db))) {
            AfterRead afterRead = new AfterRead(at(level, db));
            try (Inbox inbox = db.inbox(afterRead.dataSource())) {
                inbox.acceptAll(consumer, known);
                inbox.acceptAll(consumer, known); // all of them known, so the next list is read first
                afterRead.then(() -> elsewhere.accept(consumer, typed("3")));
                List<Outcome<?>> outcomes = inbox.acceptAll(consumer, List.of(typed("1"), typed("2"), typed("3")));
                assertThat(afterRead.happened()).isTrue();
                for (int i = 0; i < 3; i++) {
                    Object receipt = "receipt " + (i + 1);
                    assertThat(outcomes.get(i))
                            .as("message %s", i + 1)
                            .isInstanceOfSatisfying(
                                    Outcome.Duplicate.class,
                                    duplicate -> assertThat(((Outcome.Duplicate<?>) duplicate).storedResult())
                                            .isEqualTo(Optional.of(receipt)));
                }
                assertThat(db.payments()).isEqualTo(3);
            }
        }
    }

    static Stream<Arguments> levels() {
        return cases().filter(c -> (boolean) c.get()[2])
                .map(c -> Arguments.of(c.get()[0], c.get()[1]))
                // locks what it reads, so that nobody can do it meanwhile
                .filter(c -> !List.of(Database.MARIADB, Connection.TRANSACTION_SERIALIZABLE)
                        .equals(List.of(c.get())));
    }

    private static Message typed(String id) {
        return Db.message(id).toBuilder().type("pay").build();
    }

    private static Outcome<Object> pay(Inbox inbox) throws Exception {
        return inbox.process(PATIENT, Db.message("1"), tx -> {
            Db.pay(tx.connection(), "1");
            return null;
        });
    }

    public static DataSource at(int level, Db db) {
        return new UnitDataSource(() -> {
            Connection connection =
                    (db.kind() == Database.H2 ? Db.plain(db.url("LOCK_TIMEOUT=10000")) : db.plain()).getConnection();
            connection.setTransactionIsolation(level);
            return connection;
        });
    }
}
