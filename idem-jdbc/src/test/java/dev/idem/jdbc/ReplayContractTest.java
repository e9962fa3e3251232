package dev.idem.jdbc;

import dev.idem.jdbc.schema.Database;
import dev.idem.replay.ReplaySpec;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.ReplayStoreContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The published contract of replay sessions, on each database. */
@Tag("second-pass")
@ExtendWith(SkipWithoutServer.class)
@ParameterizedClass
@EnumSource(Database.class)
@Tag("quick")
class ReplayContractTest extends ReplayStoreContract {
    @Parameter
    Database kind;

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
