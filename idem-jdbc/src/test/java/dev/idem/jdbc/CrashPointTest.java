package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.FaultPoint;
import dev.idem.test.fault.ForkedJvm;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A crash at every point of every kind of delivery, by exception, error, halt and kill: what was committed is there in
 * one piece, what was not is not there at all, and redelivery ends with one effect and one marker.
 */
class CrashPointTest {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int MOST_DELIVERIES = 40;
    private static final AtomicInteger CASES = new AtomicInteger();

    @TempDir
    Path directory;

    @Test
    void everyStepHasACrashCase() throws Exception {
        try (Db db = open(Database.H2)) {
            Set<String> crashed = new HashSet<>();
            cases(db).forEach(crash -> crashed.add(crash.point()));
            assertThat(crashed)
                    .contains(CrashDelivery.BEFORE_EFFECT, CrashDelivery.AFTER_EFFECT)
                    .containsAll(Arrays.stream(FaultPoint.values())
                            .map(FaultPoint::name)
                            .toList());
        }
    }

    static Stream<Arguments> pools() {
        return Stream.of(Database.values())
                .flatMap(database ->
                        Stream.of(TestPool.HIKARI, TestPool.REUSING).map(pool -> Arguments.of(database, pool)));
    }

    @ParameterizedTest
    @MethodSource("pools")
    @DisplayName("PC-02 LV-15 an exception at any point")
    void anExceptionAtAnyPoint(Database database, TestPool kind) throws Exception {
        crashInProcess(database, kind, () -> new IllegalStateException("crash"));
    }

    @ParameterizedTest
    @MethodSource("pools")
    @DisplayName("PC-02 LV-15 an error at any point")
    void anErrorAtAnyPoint(Database database, TestPool kind) throws Exception {
        crashInProcess(database, kind, () -> new OutOfMemoryError("crash"));
    }

    private void crashInProcess(Database database, TestPool kind, Supplier<Throwable> crash) throws Exception {
        try (Db db = open(database);
                TestPool.Opened opened = kind.open(db, 3)) {
            List<CrashCase> cases = cases(db);
            DataSource pool = opened.source();
            prepareDuplicates(pool, cases);
            for (CrashCase one : cases) {
                Throwable thrown =
                        catchThrowable(() -> CrashDelivery.deliver(pool, one.id(), one.scenario(), (point, index) -> {
                            if (index == one.index()) {
                                sneak(crash.get());
                            }
                        }));
                assertThat(thrown).as("%s", one).hasMessage("crash");
            }
            settleAll(db, pool, cases, false);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-02 a halt of the process at any point")
    void aHaltAtAnyPoint(Database database) throws Exception {
        try (Db db = open(database)) {
            List<CrashCase> cases = cases(db);
            prepareDuplicates(db.plain(), cases);
            try (ForkedJvm process = fork(db, "halt", cases)) {
                assertThat(process.waitForExit(LIMIT)).as("%s", process.lines()).isEqualTo(CrashProcess.HALTED);
            }
            settleAll(db, db.pool(3), cases, database == Database.H2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-02 kill -9 of the process at any point")
    void aKillAtAnyPoint(Database database) throws Exception {
        try (Db db = open(database)) {
            List<CrashCase> cases = cases(db);
            prepareDuplicates(db.plain(), cases);
            try (ForkedJvm process = fork(db, "wait", cases)) {
                process.waitForLine(CrashProcess.READY::equals, LIMIT);
                process.killHard();
            }
            settleAll(db, db.pool(3), cases, database == Database.H2);
        }
    }

    private Db open(Database database) {
        return database == Database.H2 ? Db.h2File(directory.resolve("crash")) : Db.fresh(database);
    }

    /** Finds the points by passing them all, on messages that nothing else uses. */
    private static List<CrashCase> cases(Db db) throws Exception {
        List<CrashCase> cases = new ArrayList<>();
        try (Connection keepsItOpen = db.plain().getConnection()) {
            db.store();
            addCases(db, cases);
            db.execute("DELETE FROM payment", "DELETE FROM idem_marker", "UPDATE idem_retention SET sample_key = NULL");
        }
        return cases;
    }

    private static void addCases(Db db, List<CrashCase> cases) throws Exception {
        for (CrashDelivery.Scenario scenario : CrashDelivery.Scenario.values()) {
            String id = "clean:" + scenario;
            if (scenario == CrashDelivery.Scenario.DUPLICATE) {
                process(db.plain(), id);
            }
            List<String> passed = new ArrayList<>();
            Throwable failure = catchThrowable(
                    () -> CrashDelivery.deliver(db.plain(), id, scenario, (point, index) -> passed.add(point)));
            assertThat(failure != null).isEqualTo(scenario == CrashDelivery.Scenario.FAILS);
            cases.addAll(CrashCase.of(scenario, passed));
        }
    }

    private static void prepareDuplicates(DataSource source, List<CrashCase> cases) throws SQLException {
        for (CrashCase one : cases) {
            if (one.scenario() == CrashDelivery.Scenario.DUPLICATE) {
                process(source, one.id());
            }
        }
    }

    private static ForkedJvm fork(Db db, String end, List<CrashCase> cases) {
        List<String> arguments = new ArrayList<>(List.of(db.url(), end));
        cases.forEach(one -> arguments.add(one.id()));
        return ForkedJvm.start(
                List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
                CrashProcess.class,
                arguments.toArray(String[]::new));
    }

    /**
     * What is there must be whole, and after redelivery there must be one of everything. An H2 file may forget the last
     * commits of a process that was killed, and then marker and effect must be gone together.
     */
    private static void settleAll(Db db, DataSource source, List<CrashCase> cases, boolean mayForget)
            throws SQLException {
        Map<String, Long> effects = counts(source, "payment", "order_id");
        Map<String, Long> markers = counts(source, "idem_marker", "readable");
        for (CrashCase one : cases) {
            boolean forgotten = mayForget && !effects.containsKey(one.id());
            Long expected = one.committed() && !forgotten ? 1L : null;
            assertThat(effects.get(one.id()))
                    .as("effects before redelivery, %s", one)
                    .isEqualTo(expected);
            assertThat(markers.get(one.id()))
                    .as("markers before redelivery, %s", one)
                    .isEqualTo(expected);
        }
        for (CrashCase one : cases) {
            assertThat(redeliver(source, one.id()))
                    .as("%s", one)
                    .isInstanceOf(effects.containsKey(one.id()) ? Outcome.Duplicate.class : Outcome.Processed.class);
        }
        Map<String, Long> once = cases.stream().collect(Collectors.toMap(CrashCase::id, one -> 1L));
        assertThat(counts(source, "payment", "order_id")).as("effects").isEqualTo(once);
        assertThat(counts(source, "idem_marker", "readable")).as("markers").isEqualTo(once);
        CASES.addAndGet(cases.size());
        System.out.printf("crash points on %s: %d cases%n", db.kind(), cases.size());
    }

    private static Map<String, Long> counts(DataSource source, String table, String column) throws SQLException {
        String sql = "SELECT " + column + ", count(*) FROM " + table + " GROUP BY " + column;
        Map<String, Long> counts = new HashMap<>();
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                counts.put(rows.getString(1), rows.getLong(2));
            }
        }
        return counts;
    }

    private static Outcome<?> redeliver(DataSource source, String id) throws SQLException {
        for (int i = 0; i < MOST_DELIVERIES; i++) {
            Outcome<?> outcome = process(source, id);
            if (outcome.settlement() == Settlement.ACK) {
                return outcome;
            }
        }
        throw new AssertionError(id + " is not acknowledged after " + MOST_DELIVERIES + " deliveries");
    }

    private static Outcome<String> process(DataSource source, String id) throws SQLException {
        JdbcStore store =
                JdbcStore.builder(source).schemaMode(SchemaMode.NOTHING).build();
        try (Inbox inbox = Inbox.create(store)) {
            return inbox.process(CrashDelivery.CONSUMER, CrashDelivery.message(id), tx -> {
                Db.pay(tx.connection(), id);
                return id;
            });
        }
    }

    @SuppressWarnings("unchecked")
    private static <X extends Throwable> void sneak(Throwable failure) throws X {
        throw (X) failure;
    }

    @AfterAll
    static void total() {
        System.out.printf("crash points total: %d cases%n", CASES.get());
    }
}
