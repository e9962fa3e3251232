package dev.idem.jdbc.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Outcome;
import dev.idem.jdbc.SweepBench;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.LongLane;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import dev.idem.test.fault.NthCallSweep;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every fault at every JDBC call, on every database: after redelivery there is one effect and one marker, nothing was
 * acknowledged before its effect was there, and no connection is missing from the pool. On PostgreSQL every call; on the
 * others, outside the long lane, a third of them, others in each build.
 */
class SweepTest {
    private static final AtomicInteger CASES = new AtomicInteger();
    private static final AtomicInteger FIRED = new AtomicInteger();

    static Stream<Arguments> everyWayOnEveryDatabase() {
        return Arrays.stream(Database.values())
                .flatMap(database -> Arrays.stream(SweepBench.Way.values()).map(way -> Arguments.of(database, way)));
    }

    @ParameterizedTest
    @MethodSource("everyWayOnEveryDatabase")
    void noFaultAtAnyCallLosesOrDoublesAnEffect(Database database, SweepBench.Way way) throws Exception {
        try (SweepBench bench = new SweepBench(database, way)) {
            NthCallSweep.Summary summary = sweep(bench, way, stride(database));
            report(database + " " + way, summary.calls(), summary.cases(), summary.faultsFired());
        }
    }

    private static NthCallSweep.Summary sweep(SweepBench bench, SweepBench.Way way, int stride) throws Exception {
        NthCallSweep sweep = NthCallSweep.over(bench.faulty())
                .every(stride, LongLane.first(stride))
                .reset(bench::reset)
                .deliver(bench::deliver)
                .recover(bench::redeliver)
                .check(bench::check);
        if (way == SweepBench.Way.JOINED) {
            // The commit is its owner's there; that one is looked at below.
            sweep.faults(Arrays.stream(Fault.values())
                    .filter(fault -> fault != Fault.SILENT_ROLLBACK)
                    .toArray(Fault[]::new));
        }
        return sweep.sweep();
    }

    /** Where a unit ends in different ways; the others make the same calls. */
    static Stream<Arguments> endingsOnEveryDatabase() {
        Set<SweepBench.Way> ways =
                EnumSet.of(SweepBench.Way.STORED_RESULT, SweepBench.Way.FAILING_HANDLER, SweepBench.Way.JOINED);
        return everyWayOnEveryDatabase()
                .filter(arguments -> ways.contains(arguments.get()[1]));
    }

    @ParameterizedTest
    @MethodSource("endingsOnEveryDatabase")
    @DisplayName("LV-15 nor does one where the pool hands out the same connection again, and meets faults of its own")
    void noFaultWhereThePoolHandsOutTheSameAgain(Database database, SweepBench.Way way) throws Exception {
        try (SweepBench bench = SweepBench.reusing(database, way)) {
            NthCallSweep.Summary summary = sweep(bench, way, stride(database));
            report(database + " " + way + " reusing pool", summary.calls(), summary.cases(), summary.faultsFired());
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aJoinedUnitNoticesASilentRollbackUpToItsConfirmation(Database database) throws Exception {
        try (SweepBench bench = new SweepBench(database, SweepBench.Way.JOINED)) {
            bench.reset();
            int commit = callBefore(bench, call -> call.equals("commit"));
            for (int n = 1; n < commit; n++) {
                bench.reset();
                bench.faulty().arm(n, Fault.SILENT_ROLLBACK);
                settle(bench);
            }
            report(database + " JOINED silent rollback", commit, commit - 1, commit - 1);
        }
    }

    private static int stride(Database database) {
        return database == Database.POSTGRESQL ? 1 : LongLane.stride(3);
    }

    /** Fewer ways than above outside the long lane: they make the same calls. */
    static Stream<Arguments> distinctWaysOnEveryDatabase() {
        Set<SweepBench.Way> ways = EnumSet.of(SweepBench.Way.STORED_RESULT, SweepBench.Way.JOINED);
        return everyWayOnEveryDatabase()
                .filter(arguments -> LongLane.isOn() || ways.contains(arguments.get()[1]));
    }

    @ParameterizedTest
    @MethodSource("distinctWaysOnEveryDatabase")
    void noErrorCodeAtAnyCallLosesOrDoublesAnEffect(Database database, SweepBench.Way way) throws Exception {
        try (SweepBench bench = new SweepBench(database, way)) {
            int stride = stride(database);
            int first = LongLane.first(stride);
            int cases = 0;
            int fired = 0;
            for (Code code : codes(database)) {
                for (Fault fault : List.of(Fault.EXCEPTION_BEFORE, Fault.EXCEPTION_AFTER)) {
                    int n = first - stride;
                    do {
                        bench.reset();
                        bench.faulty().arm(n += stride, fault, code::exception);
                        settle(bench);
                        cases++;
                        fired += bench.faulty().fired() ? 1 : 0;
                    } while (bench.faulty().fired());
                }
            }
            report(database + " " + way + " error codes", 0, cases, fired);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aCommitWhoseAnswerIsLostIsRecognisedInTheSameDelivery(Database database) throws Exception {
        try (SweepBench bench = new SweepBench(database, SweepBench.Way.STORED_RESULT)) {
            bench.reset();
            int commit = callBefore(bench, call -> call.equals("commit") || call.matches("execute.*COMMIT(; END)?"));
            bench.reset();
            bench.faulty().arm(commit, Fault.CONNECTION_LOST_AFTER);

            assertThat(bench.once()).isEqualTo(new Outcome.Processed<>("receipt"));

            assertThat(bench.faulty().fired()).isTrue();
            assertThat(bench.repeats()).isEqualTo(1);
            assertThat(bench.runs()).isEqualTo(1);
            bench.check();
            assertThat(bench.storedResult()).contains("receipt");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aCommitThatIsLostBeforeItArrivesIsRunAgainInTheSameDelivery(Database database) throws Exception {
        try (SweepBench bench = new SweepBench(database, SweepBench.Way.STORED_RESULT)) {
            bench.reset();
            int commit = callBefore(bench, call -> call.equals("commit") || call.matches("execute.*COMMIT(; END)?"));
            bench.reset();
            bench.faulty().arm(commit, Fault.CONNECTION_LOST_BEFORE);

            assertThat(bench.once()).isEqualTo(new Outcome.Processed<>("receipt"));

            assertThat(bench.repeats()).isEqualTo(1);
            assertThat(bench.runs()).isEqualTo(2);
            bench.check();
        }
    }

    /** Delivers under the armed fault; an acknowledgement must be true at once, anything else after redelivery. */
    private static void settle(SweepBench bench) throws Exception {
        FaultyDataSource faulty = bench.faulty();
        boolean acknowledged = false;
        try {
            acknowledged = bench.deliver();
        } catch (Exception failure) {
            assertThat(faulty.fired()).as("failed without a fault: %s", failure).isTrue();
        }
        faulty.disarm();
        String where = faulty.trace().toString();
        try {
            if (acknowledged) {
                bench.check();
            }
            bench.redeliver();
            bench.check();
        } catch (AssertionError violation) {
            throw new AssertionError(violation.getMessage() + "\nafter " + where, violation);
        }
    }

    /** Runs a delivery without a fault and returns the position of the first such call. */
    private static int callBefore(SweepBench bench, Predicate<String> wanted) throws Exception {
        bench.faulty().reset();
        assertThat(bench.deliver()).isTrue();
        List<String> trace = bench.faulty().trace();
        for (int i = 0; i < trace.size(); i++) {
            if (wanted.test(trace.get(i))) {
                return i + 1;
            }
        }
        throw new AssertionError("no such call in " + trace);
    }

    /** What servers really answer: for deadlocks, timeouts, shutdowns, full disks, violations. */
    private record Code(String state, int vendor) {
        SQLException exception() {
            return new SQLException("Injected " + state + "/" + vendor, state, vendor);
        }
    }

    private static List<Code> codes(Database database) {
        return switch (database) {
            case POSTGRESQL ->
                Stream.of(
                                "40001", "40P01", "40003", "55P03", "57014", "57P01", "53100", "53300", "23505",
                                "25006", "25P02", "22012", "08007", "0A000")
                        .map(state -> new Code(state, 0))
                        .toList();
            case MARIADB ->
                List.of(
                        new Code("40001", 1213),
                        new Code("HY000", 1205),
                        new Code("HY000", 1020),
                        new Code("70100", 1317),
                        new Code("70100", 1927),
                        new Code("08S01", 1053),
                        new Code("23000", 1062),
                        new Code("42000", 1305),
                        new Code("HY000", 1021),
                        new Code("HY000", 1290));
            case H2 ->
                List.of(
                        new Code("40001", 40001),
                        new Code("HYT00", 50200),
                        new Code("23505", 23505),
                        new Code("57014", 57014),
                        new Code("90067", 90067),
                        new Code("90121", 90121),
                        new Code("HY000", 90131));
        };
    }

    private static void report(String what, int calls, int cases, int fired) {
        CASES.addAndGet(cases);
        FIRED.addAndGet(fired);
        System.out.printf("sweep %-45s calls %3d, cases %4d, faults fired %4d%n", what, calls, cases, fired);
    }

    @AfterAll
    static void total() {
        System.out.printf("sweep total: %d cases, %d faults fired%n", CASES.get(), FIRED.get());
    }
}
