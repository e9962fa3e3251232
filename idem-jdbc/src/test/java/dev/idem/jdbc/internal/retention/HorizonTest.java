package dev.idem.jdbc.internal.retention;

import static dev.idem.jdbc.History.PAYMENTS;
import static dev.idem.jdbc.History.WINDOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Rejection;
import dev.idem.StoreException;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.History;
import dev.idem.jdbc.IsolationTest;
import dev.idem.jdbc.Together;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.test.fault.FaultyDataSource;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What a message is that comes again after its marker was removed. */
class HorizonTest {
    private static final Duration OLD = WINDOW.plusHours(1);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-01 KF-17 a replay from before the horizon is undecidable, one from after it is judged as ever")
    void aReplayFromBeforeTheHorizonIsUndecidable(Database database) throws Exception {
        try (History history = new History(database)) {
            history.paid("old", OLD);
            history.sweep();
            Instant horizon = Micros.instant(history.horizon());
            Duration skew = PAYMENTS.policy().clockSkew();

            assertThat(history.pay(History.message("old", OLD))).isEqualTo(new Outcome.Undecidable<>(horizon));
            assertThat(history.pay(History.message("at", horizon.plus(skew)))).isInstanceOf(Outcome.Undecidable.class);
            assertThat(history.pay(History.message("after", horizon.plus(skew).plusNanos(1000))))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(history.pay(History.message("after", horizon.plus(skew).plusNanos(1000))))
                    .isInstanceOf(Outcome.Duplicate.class);
            assertThat(history.pay(Db.message("without a time"))).isInstanceOf(Outcome.Processed.class);
            assertThat(history.db.payments("old")).isEqualTo(1);
            assertThat(history.marked("at")).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-01 before the first sweep nothing is undecidable, however old it is")
    void withoutARemovalEverythingIsDecidable(Database database) throws Exception {
        try (History history = new History(database)) {
            history.sweep();
            assertThat(history.pay(History.message("1", Duration.ofDays(4000)))).isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-01 an undecidable message is set aside, turned away or processed, as the policy says")
    void thePolicyDecides(Database database) throws Exception {
        try (History history = new History(database)) {
            history.paid("old", OLD);
            history.sweep();
            Message again = History.message("old", OLD);
            assertThat(history.pay(with(Policy.Undecidable.PARK), again)).isInstanceOf(Outcome.Undecidable.class);
            assertThat(history.pay(with(Policy.Undecidable.REJECT), again))
                    .isInstanceOfSatisfying(
                            Outcome.Rejected.class,
                            rejected -> assertThat(rejected.reason()).isEqualTo(Rejection.UNDECIDABLE));
            assertThat(history.db.payments("old")).isEqualTo(1);
            assertThat(history.pay(with(Policy.Undecidable.PROCESS), again)).isInstanceOf(Outcome.Processed.class);
            assertThat(history.pay(with(Policy.Undecidable.PARK), again)).isInstanceOf(Outcome.Duplicate.class);
            assertThat(history.db.payments("old")).isEqualTo(2);
        }
    }

    private static Consumer with(Policy.Undecidable choice) {
        return History.payments(Policy.defaults().withUndecidable(choice));
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-01 the time in a UUIDv7 or ULID counts before the event time, which a republished message changes")
    void theTimeInTheIdCounts(Database database) throws Exception {
        try (History history = new History(database)) {
            long millis = Instant.now().minus(OLD).toEpochMilli();
            String v7 = new UUID((millis << 16) | 0x7000L | 0x123, 0x8000_0000_0000_0001L).toString();
            Message republished = History.message(v7, Duration.ZERO);
            assertThat(history.pay(republished)).isInstanceOf(Outcome.Processed.class);
            history.age("1 = 1", OLD);
            history.sweep();
            assertThat(history.pay(republished)).isInstanceOf(Outcome.Undecidable.class);
            assertThat(history.pay(History.message("01ARZ3NDEKTSV4RRFFQ69G5FAV", Duration.ZERO)))
                    .isInstanceOf(Outcome.Undecidable.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-01 a joined message from before the horizon is undecidable, and the outer transaction goes on")
    void aJoinedMessageIsJudgedToo(Database database) throws Exception {
        try (History history = new History(database);
                Connection outer = history.db.plain().getConnection()) {
            history.paid("old", OLD);
            history.sweep();
            outer.setAutoCommit(false);
            Outcome<?> outcome = history.inbox
                    .within(outer)
                    .process(PAYMENTS, History.message("old", OLD), tx -> "never")
                    .outcome();
            assertThat(outcome).isInstanceOf(Outcome.Undecidable.class);
            Db.pay(outer, "other");
            outer.commit();
            assertThat(history.marked("old")).isFalse();
            assertThat(history.db.payments("other")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-01 in a batch only those from before the horizon are undecidable, and one look is enough for all")
    void aBatchIsJudgedToo(Database database) throws Exception {
        Consumer batch = Consumer.named("payments")
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
        try (History history = new History(database)) {
            history.paid("old-1", OLD);
            history.paid("old-2", OLD);
            history.sweep();
            FaultyDataSource traced = FaultyDataSource.around(history.db.plain());
            try (Inbox inbox = history.db.inbox(traced)) {
                inbox.register(batch);
                traced.reset();
                List<Outcome<?>> outcomes = inbox.acceptAll(
                        batch,
                        List.of(
                                History.message("old-1", OLD),
                                History.message("new", Duration.ZERO),
                                History.message("old-2", OLD),
                                History.message("old-2", OLD)));
                assertThat(outcomes)
                        .extracting(outcome -> outcome.getClass().getSimpleName())
                        .containsExactly("Undecidable", "Processed", "Undecidable", "Undecidable");
                assertThat(readsOfTheHorizon(traced))
                        .filteredOn(call -> call.startsWith("execute"))
                        .hasSize(1);
            }
            assertThat(history.db.payments()).isEqualTo(3);
            assertThat(history.marked("new")).isTrue();
            assertThat(history.db.markers()).isEqualTo(1);
            assertThat(history.inbox.acceptAll(batch, List.of(History.message("old-1", OLD))))
                    .singleElement()
                    .isInstanceOf(Outcome.Undecidable.class);
        }
    }

    static Stream<Arguments> levels() {
        return Stream.of(Database.values())
                .flatMap(database -> Stream.of(
                                Connection.TRANSACTION_READ_COMMITTED,
                                Connection.TRANSACTION_REPEATABLE_READ,
                                Connection.TRANSACTION_SERIALIZABLE)
                        .map(level -> Arguments.of(database, level)));
    }

    @ParameterizedTest(name = "{0}, level {1}")
    @MethodSource("levels")
    @DisplayName("PG-30 a duplicate that waited for its marker's removal is not processed, at every isolation level")
    void aDuplicateThatWaitedForTheRemoval(Database database, int level) throws Exception {
        CountDownLatch claiming = new CountDownLatch(1);
        try (History history = new History(database);
                Inbox other = Inbox.builder(history.db.store(IsolationTest.at(level, history.db)))
                        .steps((step, key) -> claiming.countDown())
                        .build();
                Connection sweep = history.db.plain().getConnection()) {
            other.register(PAYMENTS);
            history.paid("old", OLD);
            sweep.setAutoCommit(false);
            removeWithoutCommit(history, sweep);

            Future<Outcome<?>> duplicate =
                    Together.start(() -> History.pay(other, PAYMENTS, History.message("old", OLD)));
            Together.await(claiming);
            if (database != Database.H2) { // which tries again and again, and tells nobody
                history.db.awaitBlocked(1);
            }
            sweep.commit();

            // A snapshot that still shows the marker makes it a duplicate, which is as right.
            assertThat(Together.get(duplicate)).isInstanceOfAny(Outcome.Undecidable.class, Outcome.Duplicate.class);
            assertThat(History.pay(other, PAYMENTS, History.message("old", OLD)))
                    .isInstanceOf(Outcome.Undecidable.class);
            assertThat(history.db.payments("old")).isEqualTo(1);
        }
    }

    @ParameterizedTest(name = "{0}, level {1}")
    @MethodSource("levels")
    @DisplayName("PG-30 a joined claim whose snapshot is older than the removal is never granted")
    void aJoinedClaimWithAnOldSnapshot(Database database, int level) throws Exception {
        try (History history = new History(database);
                Connection outer = IsolationTest.at(level, history.db).getConnection()) {
            history.paid("old", OLD);
            outer.setAutoCommit(false);
            outer.createStatement().executeQuery("SELECT count(*) FROM payment").close();
            history.sweep();
            try {
                assertThat(history.inbox
                                .within(outer)
                                .process(PAYMENTS, History.message("old", OLD), tx -> "never")
                                .outcome())
                        .isInstanceOfAny(Outcome.Undecidable.class, Outcome.Duplicate.class);
            } catch (StoreException serialization) {
                assertThat(level).isNotEqualTo(Connection.TRANSACTION_READ_COMMITTED);
            }
            outer.rollback();
        }
    }

    private static void removeWithoutCommit(History history, Connection sweep) throws Exception {
        Tables tables = history.db.tables();
        List<Cutoffs.Cutoff> cutoffs;
        try (Connection connection = history.db.plain().getConnection()) {
            cutoffs = new Cutoffs(tables).take(connection, KnownConsumer.all(connection, tables), false);
        }
        TableScan walk = history.db.kind() == Database.POSTGRESQL
                ? CtidScan.through(Expiring.MARKERS, tables, sweep, cutoffs, 5000)
                : new KeysetScan(Expiring.MARKERS, tables, cutoffs, 5000);
        assertThat(walk.step(sweep, false)).containsValue(1L);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a young message costs no look at the horizon, an old one does")
    void theHorizonOfAYoungMessageIsNotRead(Database database) throws Exception {
        try (History history = new History(database)) {
            FaultyDataSource traced = FaultyDataSource.around(history.db.plain());
            try (Inbox inbox = history.db.inbox(traced)) {
                inbox.register(PAYMENTS);
                traced.reset();
                History.pay(inbox, PAYMENTS, History.message("young", WINDOW.dividedBy(3)));
                inbox.acceptAll(
                        Consumer.named("payments")
                                .otherwise((m, tx) -> Db.nothing(tx))
                                .build(),
                        List.of(
                                History.message("young-1", WINDOW.dividedBy(3)),
                                History.message("young-2", WINDOW.dividedBy(3))));
                assertThat(readsOfTheHorizon(traced)).isEmpty();
                History.pay(inbox, PAYMENTS, History.message("old", OLD));
                assertThat(readsOfTheHorizon(traced)).isNotEmpty();
            }
        }
    }

    private static List<String> readsOfTheHorizon(FaultyDataSource traced) {
        List<String> reads = new ArrayList<>(traced.trace());
        reads.removeIf(call -> !call.contains("horizon"));
        return reads;
    }
}
