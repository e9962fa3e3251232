package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.table;

import dev.idem.Outcome;
import dev.idem.jdbc.schema.Database;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JooqTest extends LibraryContract {
    @Override
    Library start(Bench bench) {
        SQLDialect dialect = dialect(bench.database());
        DSLContext configured = DSL.using(bench.store().dataSource(), dialect);
        return (tx, way) -> new Jooq(
                switch (way) {
                    case CONNECTION -> DSL.using(tx.connection(), dialect);
                    case UNIT_DATA_SOURCE -> DSL.using(tx.dataSource(), dialect);
                    case STORE_DATA_SOURCE -> configured;
                });
    }

    static SQLDialect dialect(Database database) {
        return switch (database) {
            case POSTGRESQL -> SQLDialect.POSTGRES;
            case MARIADB -> SQLDialect.MARIADB;
            case H2 -> SQLDialect.H2;
        };
    }

    private record Jooq(DSLContext dsl) implements Library.Access {
        @Override
        public void pay(String order) {
            insert(dsl, order);
        }

        @Override
        public void payInTransaction(String order, Library.Body body) {
            dsl.transaction(nested -> {
                insert(nested.dsl(), order);
                body.run();
            });
        }
    }

    private static void insert(DSLContext dsl, String order) {
        dsl.insertInto(table("payment"), field("order_id")).values(order).execute();
    }

    /** jOOQ nests with savepoints, and those are real. */
    @ParameterizedTest
    @EnumSource(Database.class)
    void aNestedTransactionThatFailsIsUndoneAlone(Database database) {
        try (Bench bench = new Bench(database)) {
            DSLContext dsl = DSL.using(bench.store().dataSource(), dialect(database));
            assertThat(bench.deliver(
                            "m",
                            tx -> dsl.transaction(outer -> {
                                insert(outer.dsl(), "1");
                                assertThatThrownBy(() -> outer.dsl().transaction(nested -> {
                                            insert(nested.dsl(), "2");
                                            insert(
                                                    nested.dsl(),
                                                    "1"); // aborts a PostgreSQL transaction up to its savepoint
                                        }))
                                        .isInstanceOf(DataAccessException.class);
                                insert(outer.dsl(), "3");
                            })))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(bench.payments()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void onTheHandlersConnectionATransactionIsRefused(Database database) {
        try (Bench bench = new Bench(database)) {
            assertThatThrownBy(() -> bench.deliver(
                            "m",
                            tx -> DSL.using(tx.connection(), dialect(database))
                                    .transaction(nested -> insert(nested.dsl(), "1"))))
                    .isInstanceOf(DataAccessException.class)
                    .hasStackTraceContaining("Refused: commit() inside a handler");
            assertThat(bench.payments()).isZero();
            assertThat(bench.markers()).isZero();
        }
    }
}
