package dev.idem.jdbc;

import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.SequenceStoreContract;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The published contract of sequences, on each database. */
@Tag("second-pass")
@ExtendWith(SkipWithoutServer.class)
class SequenceContractTest {
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

    abstract static class OnDatabase extends SequenceStoreContract {
        private final Database kind;

        OnDatabase(Database kind) {
            this.kind = kind;
        }

        @Override
        protected MarkerStore store() {
            return ContractDb.of(kind).store();
        }

        @Override
        protected void effect(Connection connection, String effect) throws SQLException {
            Db.pay(connection, effect);
        }

        @Override
        protected int effects(String effect) {
            return (int) ContractDb.of(kind).db.payments(effect);
        }
    }
}
