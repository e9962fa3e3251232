package dev.idem.jdbc;

import dev.idem.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.stream.Collectors;

/** The supported databases. */
public enum Database {
    POSTGRESQL("PostgreSQL", "postgresql"),
    MARIADB("MariaDB", "mariadb"),
    /** The embedded default; also for unit tests, but green there proves little for the others. */
    H2("H2", "h2");

    private final String product;
    private final String file;

    Database(String product, String file) {
        this.product = product;
        this.file = file;
    }

    /** The name the driver reports. */
    public String product() {
        return product;
    }

    /** The name of its schema file, and what the command line calls it. */
    public String label() {
        return file;
    }

    Dialect dialect() {
        return switch (this) {
            case POSTGRESQL -> PostgreSql.DIALECT;
            case MARIADB -> MariaDb.DIALECT;
            case H2 -> H2Dialect.DIALECT;
        };
    }

    static Database detect(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        return Arrays.stream(values())
                .filter(database -> database.product.equalsIgnoreCase(product))
                .findFirst()
                .orElseThrow(() -> new StoreException(
                        "Database '" + product + "' is not supported. Supported are "
                                + Arrays.stream(values()).map(Database::product).collect(Collectors.joining(", "))
                                + ". If it speaks the SQL of one of these, choose that one:"
                                + " JdbcStore.builder(dataSource).database(Database.POSTGRESQL)",
                        null));
    }
}
