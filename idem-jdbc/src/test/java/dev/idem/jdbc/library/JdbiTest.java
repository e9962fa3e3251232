package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Outcome;
import dev.idem.jdbc.schema.Database;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JdbiTest extends LibraryContract {
    @Override
    Library start(Bench bench) {
        Jdbi configured = Jdbi.create(bench.store().dataSource());
        return (tx, way) -> new Access(
                switch (way) {
                    case CONNECTION -> Jdbi.create(tx.connection());
                    case UNIT_DATA_SOURCE -> Jdbi.create(tx.dataSource());
                    case STORE_DATA_SOURCE -> configured;
                });
    }

    private record Access(Jdbi jdbi) implements Library.Access {
        @Override
        public void pay(String order) {
            jdbi.useHandle(handle -> insert(handle, order));
        }

        @Override
        public void payInTransaction(String order, Library.Body body) throws Exception {
            jdbi.useTransaction(handle -> {
                insert(handle, order);
                body.run();
            });
        }
    }

    private static void insert(Handle handle, String order) {
        handle.execute("INSERT INTO payment VALUES (?)", order);
    }

    /** Jdbi takes a connection with autocommit off for one whose transaction another owns, and only runs the body. */
    @ParameterizedTest
    @EnumSource(Database.class)
    void onTheHandlersConnectionATransactionIsOnlyABlock(Database database) {
        try (Bench bench = new Bench(database)) {
            assertThat(bench.deliver("m", tx -> Jdbi.create(tx.connection()).useTransaction(h -> insert(h, "1"))))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(bench.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void anotherIsolationLevelIsRefused(Database database) {
        try (Bench bench = new Bench(database)) {
            assertThatThrownBy(() -> bench.deliver(
                            "m",
                            tx -> Jdbi.create(tx.dataSource())
                                    .useTransaction(TransactionIsolationLevel.SERIALIZABLE, h -> insert(h, "1"))))
                    .hasStackTraceContaining("Refused: setTransactionIsolation()");
            assertThat(bench.payments()).isZero();
        }
    }
}
