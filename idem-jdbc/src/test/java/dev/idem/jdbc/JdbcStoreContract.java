package dev.idem.jdbc;

import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.TransactionalStoreContract;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The published contract on a pool, one subclass for each database. */
@Tag("second-pass")
@ExtendWith(SkipWithoutServer.class)
abstract class JdbcStoreContract extends TransactionalStoreContract {
    private static Db db;
    private static Db other;
    private static DataSource pool;

    static void open(Database kind) {
        db = Db.fresh(kind);
        other = Db.fresh(kind);
        pool = db.pool(40);
        db.store(pool); // creates the tables
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
        return JdbcStore.builder(pool).schemaMode(SchemaMode.NOTHING).build();
    }

    @Override
    protected MarkerStore unrelatedStore() {
        return other.store();
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
