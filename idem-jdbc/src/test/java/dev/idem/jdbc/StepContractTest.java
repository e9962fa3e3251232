package dev.idem.jdbc;

import dev.idem.jdbc.schema.Database;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.StepStoreContract;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The published contract of steps, on each database. */
@Tag("second-pass")
@ExtendWith(SkipWithoutServer.class)
@ParameterizedClass
@EnumSource(Database.class)
@Tag("quick")
class StepContractTest extends StepStoreContract {
    @Parameter
    Database kind;

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
