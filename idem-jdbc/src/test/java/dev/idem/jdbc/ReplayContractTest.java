package dev.idem.jdbc;

import dev.idem.ReplaySpec;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.ReplayStoreContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The published contract of replay sessions, on each database. */
@Tag("second-pass")
@ExtendWith(SkipWithoutServer.class)
class ReplayContractTest {
    @Nested
    class OnPostgreSql extends OnDatabase {
        OnPostgreSql() {
            super(Database.POSTGRESQL);
        }
    }

    @Nested
    class OnMariaDb extends OnDatabase {
        OnMariaDb() {
            super(Database.MARIADB);
        }
    }

    @Nested
    class OnH2 extends OnDatabase {
        OnH2() {
            super(Database.H2);
        }
    }

    abstract static class OnDatabase extends ReplayStoreContract {
        private final Database kind;

        OnDatabase(Database kind) {
            this.kind = kind;
        }

        @Override
        protected MarkerStore store() {
            return ContractDb.of(kind).store();
        }

        @Override
        protected void ask(String session, String consumer) {
            ContractDb.of(kind).anna().start(session, consumer, ReplaySpec.of("stored"));
        }

        @Override
        protected void pause(String session) {
            ContractDb.of(kind).anna().pause(session);
        }

        @Override
        protected void resume(String session) {
            ContractDb.of(kind).anna().resume(session);
        }

        @Override
        protected void abort(String session) {
            ContractDb.of(kind).anna().abort(session);
        }
    }
}
