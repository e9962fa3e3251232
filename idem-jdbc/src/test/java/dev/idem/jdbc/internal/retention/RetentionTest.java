package dev.idem.jdbc.internal.retention;

import static dev.idem.jdbc.History.PAYMENTS;
import static dev.idem.jdbc.History.WINDOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.History;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.Together;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.schema.Database;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a sweep removes, and what it leaves. */
class RetentionTest {
    private static final Duration OLD = WINDOW.plusHours(1);
    private static final Duration YOUNG = WINDOW.minusHours(1);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("markers older than the window go, younger ones stay, and the horizon is the newest that went")
    void theOldGoAndTheYoungStay(Database database) throws Exception {
        try (History history = new History(database)) {
            history.paid("older", OLD.plusDays(1));
            history.paid("old", OLD);
            history.paid("young", YOUNG);
            history.paid("new", Duration.ZERO);
            long newest = history.newest("readable = 'old'");

            List<JdbcRetention.Swept> swept = history.sweep();

            assertThat(swept).singleElement().satisfies(payments -> {
                assertThat(payments.consumer()).isEqualTo("payments");
                assertThat(payments.window()).contains(WINDOW);
                assertThat(payments.markers()).isEqualTo(2);
                assertThat(payments.cutoff().orElseThrow())
                        .isBetween(
                                Instant.now().minus(WINDOW).minusSeconds(60),
                                Instant.now().minus(WINDOW));
            });
            assertThat(history.db.markers()).isEqualTo(2);
            assertThat(history.marked("young")).isTrue();
            assertThat(history.horizon()).isEqualTo(newest);
            assertThat(history.pay(History.message("young", YOUNG))).isInstanceOf(Outcome.Duplicate.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @Tag("second-pass")
    @DisplayName("a table of many steps is swept completely, and only what is old")
    void manySteps(Database database) throws Exception {
        try (History history = new History(database)) {
            history.pay(Db.message("first"));
            long consumer = history.db.number("SELECT number FROM idem_consumer");
            for (int i = 0; i < 12; i++) {
                history.db.execute(manyMarkers(database, consumer, 1000, history.ago(i % 2 == 0 ? OLD : YOUNG)));
            }
            List<JdbcRetention.Progress> steps = new ArrayList<>();
            List<JdbcRetention.Swept> swept = JdbcRetention.of(JdbcSchema.of(history.db.plain()))
                    .run(List.of(), steps::add)
                    .consumers();

            assertThat(swept.get(0).markers()).isEqualTo(6000);
            assertThat(history.db.markers()).isEqualTo(6001);
            assertThat(steps).hasSizeGreaterThan(2);
        }
    }

    @Test
    @DisplayName("on PostgreSQL a step reads its own pages and no others")
    void aStepReadsItsOwnPages() throws Exception {
        try (History history = new History(Database.POSTGRESQL)) {
            history.pay(Db.message("first"));
            long consumer = history.db.number("SELECT number FROM idem_consumer");
            history.db.execute(
                    manyMarkers(Database.POSTGRESQL, consumer, 20_000, history.ago(OLD)), "ANALYZE idem_marker");
            assertThat(history.db.text("EXPLAIN (FORMAT JSON) DELETE FROM idem_marker WHERE "
                            + CtidScan.OLD.formatted(40, 80, "marked_at", "WHEN 1 THEN now()")))
                    .contains("Tid Range Scan");
        }
    }

    private static String manyMarkers(Database database, long consumer, int rows, String time) {
        return switch (database) {
            case POSTGRESQL ->
                "INSERT INTO idem_marker (consumer, message_key, marked_at) SELECT " + consumer
                        + ", gen_random_uuid(), " + time + " FROM generate_series(1, " + rows + ")";
            case MARIADB ->
                "INSERT INTO idem_marker (consumer, message_key, marked_at, claim_id) SELECT " + consumer
                        + ", RANDOM_BYTES(16), " + time + ", 1 FROM seq_1_to_" + rows;
            case H2 ->
                "INSERT INTO idem_marker (consumer, message_key, marked_at, claim_id) SELECT " + consumer
                        + ", RANDOM_UUID(), " + time + ", 1 FROM SYSTEM_RANGE(1, " + rows + ")";
        };
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-06 a marker whose unit still runs is neither removed nor waited for, however old it says it is")
    void aRunningUnitIsLeftAlone(Database database) throws Exception {
        // Else MariaDB would lock every row that the handler's update below looks at.
        String[] option = database == Database.MARIADB
                ? new String[] {"sessionVariables=tx_isolation='READ-COMMITTED'"}
                : new String[0];
        try (History history = new History(database);
                Inbox inbox = history.db.inbox(history.db.pool(1, option))) {
            history.paid("old", OLD);
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Future<Outcome<Void>> unit = Together.start(() -> inbox.run(PAYMENTS, Db.message("running"), tx -> {
                Db.pay(tx.connection(), "running");
                tx.connection().createStatement().execute(history.aged("readable = 'running'", OLD));
                running.countDown();
                Together.await(end);
            }));
            Together.await(running);
            List<JdbcRetention.Swept> swept = Together.get(Together.start(history::sweep));
            end.countDown();

            assertThat(Together.get(unit)).isInstanceOf(Outcome.Processed.class);
            assertThat(swept.get(0).markers()).isEqualTo(1);
            assertThat(history.marked("running")).isTrue();
            assertThat(history.pay(Db.message("running"))).isInstanceOf(Outcome.Duplicate.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a dry run counts what would go, and changes nothing")
    void aDryRunChangesNothing(Database database) throws Exception {
        try (History history = new History(database)) {
            history.paid("old", OLD);
            history.paid("young", YOUNG);
            JdbcRetention retention = JdbcRetention.of(JdbcSchema.of(history.db.plain()));

            assertThat(retention.dryRun(List.of(), progress -> {}).consumers())
                    .singleElement()
                    .satisfies(swept -> assertThat(swept.markers()).isEqualTo(1));

            assertThat(history.db.markers()).isEqualTo(2);
            assertThat(history.db.number("SELECT count(*) FROM idem_retention"
                            + " WHERE horizon IS NULL AND cutoff IS NULL AND swept_at IS NULL"))
                    .isEqualTo(1);
            assertThat(history.db.number("SELECT next_sweep_at FROM idem_meta")).isZero();
            assertThat(retention
                            .dryRun(List.of("somebody else"), progress -> {})
                            .consumers())
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a result goes after its own window; its marker stays, and so does the horizon")
    void resultsHaveTheirOwnWindow(Database database) throws Exception {
        try (History history = new History(database)) {
            history.inbox.process(PAYMENTS, Db.message("1"), ResultCodec.text(), tx -> {
                tx.nothingToDo();
                return "receipt";
            });
            history.db.execute("UPDATE idem_result SET stored_at = " + history.ago(Duration.ofHours(25)));
            assertThat(history.sweep().get(0).results()).isEqualTo(1);
            Outcome<String> again =
                    history.inbox.process(PAYMENTS, Db.message("1"), ResultCodec.text(), tx -> "second receipt");
            assertThat(again).isInstanceOf(Outcome.Duplicate.class);
            assertThat(((Outcome.Duplicate<String>) again).storedResult()).isEmpty();
            assertThat(history.horizon()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a consumer that keeps its markers for ever loses none")
    void forEverIsForEver(Database database) throws Exception {
        try (History history = new History(database)) {
            var forEver = History.payments(Policy.defaults().withWindowForEver());
            history.pay(forEver, Db.message("1"));
            history.age("1 = 1", Duration.ofDays(400));
            assertThat(history.sweep()).singleElement().satisfies(swept -> {
                assertThat(swept.window()).isEmpty();
                assertThat(swept.markers()).isZero();
            });
            assertThat(history.pay(forEver, History.message("1", Duration.ofDays(400))))
                    .isInstanceOf(Outcome.Duplicate.class);
        }
    }
}
