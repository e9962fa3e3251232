package dev.idem.test;

import dev.idem.spi.MarkerStore;
import dev.idem.test.IdempotencyTest.Setup;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Where scenarios play: the database, how to make a store on it, and how to begin anew. */
final class Setting {
    private final Supplier<? extends DataSource> supplier;
    final Set<String> ignoredColumns = new LinkedHashSet<>();
    final Set<String> ignoredTables =
            new LinkedHashSet<>(Set.of("flyway_schema_history", "databasechangelog", "databasechangeloglock"));
    String storePrefix = "idem_";

    @Nullable
    Function<? super DataSource, ? extends MarkerStore> store;

    @Nullable
    Setup schema;

    @Nullable
    Setup fixture;

    @Nullable
    Setup reset;

    private @Nullable DataSource dataSource;
    private @Nullable SchemaTables tables;

    Setting(Supplier<? extends DataSource> supplier) {
        this.supplier = supplier;
    }

    /** Before each use: looks which tables there are, after it has made them the first time. */
    void prepare() {
        tables = null;
        if (dataSource != null) {
            return;
        }
        dataSource = supplier.get();
        run(schema, "schema");
        store(dataSource).close();
    }

    /** Before each scenario. */
    void begin() {
        if (reset != null) {
            run(reset, "reset");
        } else {
            try (Connection connection = dataSource().getConnection()) {
                new Emptying(connection).of(tables(connection).all());
            } catch (SQLException failure) {
                throw new IllegalStateException("The tables could not be emptied: give a reset(...)", failure);
            }
        }
        run(fixture, "fixture");
    }

    DataSource dataSource() {
        if (dataSource == null) {
            throw new IllegalStateException("not prepared");
        }
        return dataSource;
    }

    MarkerStore store(DataSource on) {
        if (store == null) {
            throw new IllegalStateException("Say which store to use, for example .store(JdbcStore::create)");
        }
        return store.apply(new KitDataSource(on));
    }

    Contents contents() {
        try (Connection connection = dataSource().getConnection()) {
            return Contents.read(connection, tables(connection).users());
        } catch (SQLException failure) {
            throw new IllegalStateException("The tables could not be read", failure);
        }
    }

    private SchemaTables tables(Connection connection) throws SQLException {
        if (tables == null) {
            tables = SchemaTables.read(connection, this);
        }
        return tables;
    }

    private void run(@Nullable Setup setup, String name) {
        if (setup == null) {
            return;
        }
        try {
            setup.on(dataSource());
        } catch (Exception failure) {
            throw new IllegalStateException("The " + name + " of the idempotency test failed", failure);
        }
    }
}
