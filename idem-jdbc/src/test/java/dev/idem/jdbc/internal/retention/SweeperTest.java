package dev.idem.jdbc.internal.retention;

import static dev.idem.jdbc.History.PAYMENTS;
import static dev.idem.jdbc.History.WINDOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.History;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.jdbc.Together;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.internal.sql.RetentionSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.LongLane;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sweeps among other things that happen: other sweepers, deliveries, crashes. */
class SweeperTest {
    private static final Duration OLD = WINDOW.plusHours(1);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("of three instances exactly one is elected, each time a sweep is due")
    void oneOfThreeIsElected(Database database) throws Exception {
        try (History history = new History(database)) {
            Tables tables = history.db.tables();
            List<Election> instances = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                instances.add(new Election(history.db.pool(1), tables));
            }
            for (int round = 0; round < 10; round++) {
                history.db.execute("UPDATE idem_meta SET next_sweep_at = 0");
                List<Boolean> won = Together.run(3, i -> instances.get(i).won(Duration.ofHours(1)));
                assertThat(won).containsOnlyOnce(true);
            }
            assertThat(instances.get(0).won(Duration.ofHours(1))).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("OP-01 a store sweeps by itself, survives a database that fails it, and stops when it is closed")
    void aStoreSweepsByItself(Database database) throws Exception {
        try (History history = new History(database)) {
            history.paid("old", OLD);
            AtomicBoolean down = new AtomicBoolean();
            AtomicInteger refused = new AtomicInteger();
            Inbox inbox = Inbox.create(JdbcStore.builder(new UnitDataSource(() -> {
                        if (down.get()) {
                            refused.incrementAndGet();
                            throw new SQLException("down, as the test has asked", "08001");
                        }
                        return history.db.plain().getConnection();
                    }))
                    .schemaMode(SchemaMode.VALIDATE)
                    .sweepEvery(Duration.ofMillis(50))
                    .build());
            inbox.register(PAYMENTS);
            down.set(true);
            await().atMost(Duration.ofSeconds(20)).until(() -> refused.get() > 1);
            assertThat(history.marked("old")).isTrue();
            down.set(false);
            await().atMost(Duration.ofSeconds(20)).until(() -> !history.marked("old"));
            assertThat(history.horizon()).isPositive();
            inbox.close();
            history.pay(Db.message("older"));
            history.age("readable = 'older'", OLD.plusDays(1));
            await().during(Duration.ofMillis(300)).until(() -> history.marked("older"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @Tag("second-pass")
    @DisplayName("PG-30 RP-01 redeliveries from many threads while their markers are removed: nothing is done twice")
    void redeliveriesDuringASweep(Database database) throws Exception {
        int messages = 400;
        try (History history = new History(database);
                Inbox inbox = history.db.inbox(history.db.pool(4))) {
            for (int i = 0; i < messages; i++) {
                history.pay(History.message("m" + i, OLD.plusMinutes(1)));
            }
            history.age("1 = 1", OLD);
            AtomicBoolean swept = new AtomicBoolean();
            List<Future<List<Outcome<?>>>> threads = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                Random random = new Random(t);
                threads.add(Together.start(() -> {
                    List<Outcome<?>> outcomes = new ArrayList<>();
                    while (!swept.get() || outcomes.size() < messages) {
                        String id = "m" + random.nextInt(messages);
                        outcomes.add(History.pay(inbox, PAYMENTS, History.message(id, OLD.plusMinutes(1))));
                    }
                    return outcomes;
                }));
            }
            history.sweepInSmallSteps(history.db.plain());
            swept.set(true);
            for (Future<List<Outcome<?>>> thread : threads) {
                assertThat(Together.get(thread))
                        .allMatch(o -> o instanceof Outcome.Duplicate || o instanceof Outcome.Undecidable);
            }
            assertThat(history.db.payments()).isEqualTo(messages);
            assertThat(history.db.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @Tag("second-pass")
    @DisplayName(
            "RP-01 a sweep that dies at any call leaves no removed marker above the horizon, nor a horizon above them")
    void aSweepThatDiesAnywhere(Database database) throws Exception {
        try (History history = new History(database)) {
            for (int i = 0; i < 60; i++) {
                history.paid("m" + i, OLD.plusMinutes(i));
            }
            history.db.execute(
                    "CREATE TABLE all_markers AS SELECT * FROM idem_marker", "UPDATE idem_meta SET next_sweep_at = 0");
            if (database == Database.POSTGRESQL) { // so that it has several pages
                history.db.execute("ALTER TABLE idem_marker SET (fillfactor = 20)");
            }
            FaultyDataSource faulty = FaultyDataSource.around(history.db.plain());
            int stride = database == Database.POSTGRESQL ? LongLane.stride(2) : LongLane.stride(4);
            int fired = 0;
            for (Fault fault : List.of(Fault.CONNECTION_LOST_BEFORE, Fault.CONNECTION_LOST_AFTER)) {
                for (int call = LongLane.first(stride); ; call += stride) {
                    history.db.execute(
                            "UPDATE idem_retention SET horizon = NULL, cutoff = NULL, swept_at = NULL",
                            "TRUNCATE TABLE idem_marker",
                            "INSERT INTO idem_marker SELECT * FROM all_markers");
                    faulty.reset();
                    faulty.arm(call, fault);
                    try {
                        history.sweepInSmallSteps(faulty);
                    } catch (Exception | Error dead) {
                        assertThat(faulty.fired()).as("died of %s", dead).isTrue();
                    }
                    if (!faulty.fired()) {
                        break;
                    }
                    faulty.disarm();
                    fired++;
                    assertThat(history.horizon())
                            .as("%s at call %d of %s", fault, call, faulty.trace())
                            .isEqualTo(newestThatIsGone(history));
                }
            }
            assertThat(fired).isGreaterThanOrEqualTo(20 / stride - 1);
        }
    }

    private static long newestThatIsGone(History history) {
        return history.db.number("SELECT COALESCE(MAX("
                + RetentionSql.of(history.db.kind()).micros("marked_at")
                + "), 0) FROM all_markers a WHERE NOT EXISTS"
                + " (SELECT 1 FROM idem_marker m WHERE m.message_key = a.message_key)");
    }
}
