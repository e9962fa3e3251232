package dev.idem.jdbc.schema;

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
}
