package dev.idem.jdbc;

import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.TransactionalStoreContract;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The published contract on markers in partitions. Its keys get the times that those of a real consumer would have. */
@Tag("second-pass")
@ExtendWith(SkipWithoutServer.class)
class PartitionedStoreTest extends TransactionalStoreContract {
    private static Db db;
    private static Db other;
    private static DataSource pool;

    @BeforeAll
    static void open() {
        db = Db.fresh(Database.POSTGRESQL);
        other = Db.fresh(Database.POSTGRESQL);
        pool = db.pool(40);
        JdbcSchema.of(pool).applyPartitioned(1);
        JdbcSchema.of(other.plain()).applyPartitioned(1);
    }

    @AfterAll
    static void close() {
        if (db != null) {
            db.close();
            other.close();
        }
    }

    @Override
    protected MarkerStore store() {
        return new TimedKeys(
                JdbcStore.builder(pool).schemaMode(SchemaMode.NOTHING).build());
    }

    @Override
    protected MarkerStore unrelatedStore() {
        return new TimedKeys(JdbcStore.create(other.plain()));
    }

    @Override
    protected void effect(Transaction tx, String id) throws SQLException {
        Db.pay(tx.connection(), id);
    }

    @Override
    protected int effects(String id) {
        return (int) db.payments(id);
    }
}
