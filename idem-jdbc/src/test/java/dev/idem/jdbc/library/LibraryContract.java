package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Outcome;
import dev.idem.jdbc.library.Library.Way;
import dev.idem.jdbc.schema.Database;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What every data library can rely on inside a handler, on every database. */
abstract class LibraryContract {
    abstract Library start(Bench bench);

    static Stream<Arguments> everywhere() {
        return on(Way.values());
    }

    static Stream<Arguments> dataSources() {
        return on(Way.UNIT_DATA_SOURCE, Way.STORE_DATA_SOURCE);
    }

    private static Stream<Arguments> on(Way... ways) {
        return Arrays.stream(Database.values())
                .flatMap(database -> Arrays.stream(ways).map(way -> Arguments.of(database, way)));
    }

    @ParameterizedTest
    @MethodSource("everywhere")
    void appliesTheEffectOnceOverTwoDeliveries(Database database, Way way) throws Exception {
        try (Bench bench = new Bench(database);
                Library library = start(bench)) {
            assertThat(bench.deliver("m", tx -> library.in(tx, way).pay("1"))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.deliver("m", tx -> library.in(tx, way).pay("1"))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @MethodSource("everywhere")
    void leavesNothingWhenTheHandlerFails(Database database, Way way) throws Exception {
        try (Bench bench = new Bench(database);
                Library library = start(bench)) {
            assertThatThrownBy(() -> bench.deliver("m", tx -> {
                        library.in(tx, way).pay("1");
                        throw new Refused();
                    }))
                    .isInstanceOf(Refused.class);
            assertNothingLeftAndRunsAgain(bench, library);
        }
    }

    @ParameterizedTest
    @MethodSource("dataSources")
    @DisplayName("HX-11 a transaction of the library's own joins Idem's, is flushed before it, and commits with it")
    void libraryTransactionsJoin(Database database, Way way) throws Exception {
        try (Bench bench = new Bench(database);
                Library library = start(bench)) {
            assertThatThrownBy(() -> bench.deliver("m", tx -> {
                        library.in(tx, way).payInTransaction("1", () -> {});
                        throw new Refused(); // after the library's commit, before Idem's
                    }))
                    .isInstanceOf(Refused.class);
            assertThat(bench.payments()).isZero();
            for (int delivery = 0; delivery < 2; delivery++) {
                bench.deliver("m", tx -> {
                    library.in(tx, way).payInTransaction("1", () -> {});
                    library.in(tx, way).payInTransaction("2", () -> {});
                    library.in(tx, way).pay("3");
                });
            }
            assertThat(bench.payments()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @MethodSource("dataSources")
    void aFailingLibraryTransactionFailsTheHandler(Database database, Way way) throws Exception {
        try (Bench bench = new Bench(database);
                Library library = start(bench)) {
            assertThatThrownBy(() -> bench.deliver("m", tx -> {
                        library.in(tx, way).pay("0");
                        library.in(tx, way).payInTransaction("1", LibraryContract::refuse);
                    }))
                    .isInstanceOf(Refused.class);
            assertNothingLeftAndRunsAgain(bench, library);
        }
    }

    @ParameterizedTest
    @MethodSource("dataSources")
    @DisplayName("PC-09 HX-08 what a library rolled back is never acknowledged as done")
    void aSwallowedRollbackIsNeverAcknowledged(Database database, Way way) throws Exception {
        try (Bench bench = new Bench(database);
                Library library = start(bench)) {
            assertThatThrownBy(() -> bench.deliver("m", tx -> {
                        library.in(tx, way).pay("0");
                        assertThatThrownBy(() -> library.in(tx, way).payInTransaction("1", LibraryContract::refuse))
                                .isInstanceOf(Refused.class);
                    }))
                    .isInstanceOf(BrokenTransactionException.class)
                    .hasMessageContaining("a library rolled back")
                    .hasStackTraceContaining("A library rolled back here");
            assertNothingLeftAndRunsAgain(bench, library);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void outsideAHandlerTheStoresDataSourceIsAnOrdinaryOne(Database database) throws Exception {
        try (Bench bench = new Bench(database);
                Library library = start(bench)) {
            Library.Access outside = library.in(null, Way.STORE_DATA_SOURCE);
            outside.payInTransaction("1", () -> {});
            assertThatThrownBy(() -> outside.payInTransaction("2", LibraryContract::refuse))
                    .isInstanceOf(Refused.class);
            assertThat(bench.payments()).isEqualTo(1);
        }
    }

    private static void assertNothingLeftAndRunsAgain(Bench bench, Library library) throws Exception {
        assertThat(bench.payments()).isZero();
        assertThat(bench.markers()).isZero();
        assertThat(bench.deliver("m", tx -> library.in(tx, Way.CONNECTION).pay("1")))
                .isInstanceOf(Outcome.Processed.class);
        assertThat(bench.payments()).isEqualTo(1);
    }

    static void refuse() {
        throw new Refused();
    }

    /** What the business code throws. */
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Refused() {
            super("refused by the business");
        }
    }
}
