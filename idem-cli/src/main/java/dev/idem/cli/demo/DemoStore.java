package dev.idem.cli.demo;

import dev.idem.servers.PostgresServer;
import java.sql.SQLException;
import java.util.Locale;

/** Where the consumers keep their data: a database that survives them, as it would in production. */
interface DemoStore extends AutoCloseable {
    /** The address of a new, empty database. */
    String createDatabase() throws SQLException;

    @Override
    void close();

    /** The stores a user may choose. */
    enum Kind {
        H2,
        POSTGRES;

        DemoStore open() throws SQLException {
            return this == H2 ? new H2Store() : new PostgresStore(PostgresServer.start());
        }

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** A server of its own, with durable commits; gone when the demo ends. */
    record PostgresStore(PostgresServer server) implements DemoStore {
        @Override
        public String createDatabase() {
            return server.jdbcUrl(server.createDatabase());
        }

        @Override
        public void close() {
            server.close();
        }
    }
}
