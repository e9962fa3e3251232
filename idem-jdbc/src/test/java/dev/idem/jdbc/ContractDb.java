package dev.idem.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.admin.ReplayOperator;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.MarkerStore;
import java.util.EnumMap;
import java.util.Map;

/** One database of each kind, for contracts that do not need an empty one; it lives as long as this JVM. */
final class ContractDb {
    private static final Map<Database, ContractDb> ALL = new EnumMap<>(Database.class);

    final Db db;
    private final HikariDataSource pool;

    private ContractDb(Database kind) {
        db = Db.fresh(kind);
        pool = db.pool(30);
        db.store(pool).register("contract"); // creates the tables
    }

    static synchronized ContractDb of(Database kind) {
        return ALL.computeIfAbsent(kind, ContractDb::new);
    }

    MarkerStore store() {
        return JdbcStore.builder(pool).schemaMode(SchemaMode.NOTHING).build();
    }

    ReplayOperator anna() {
        return JdbcReplays.of(JdbcSchema.of(pool)).as("anna", "a test");
    }
}
