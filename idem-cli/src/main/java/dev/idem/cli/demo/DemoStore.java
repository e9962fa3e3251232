package dev.idem.cli.demo;

import dev.idem.servers.PostgresServer;
import java.nio.file.Path;
import java.util.Locale;

/** Where the consumers keep their data: one database for each seat. */
interface DemoStore extends AutoCloseable {
    /** The address of a new, empty database. */
    String createDatabase(String name);

    @Override
    void close();

    /** The stores a user may choose. */
    enum Kind {
        H2,
        POSTGRES;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        DemoStore open(Path directory) {
            return this == H2 ? h2(directory) : postgres();
        }
    }

    /**
     * Files that only the consumer has open. A commit is written before it is answered (WRITE_DELAY=0), so it survives a
     * killed process, and the operating system frees the lock of a dead owner at once (FILE_LOCK=FS).
     */
    private static DemoStore h2(Path directory) {
        return new DemoStore() {
            @Override
            public String createDatabase(String name) {
                return "jdbc:h2:file:" + directory.resolve(name) + ";USER=sa;WRITE_DELAY=0;FILE_LOCK=FS";
            }

            @Override
            public void close() {}
        };
    }

    private static DemoStore postgres() {
        PostgresServer server = PostgresServer.start();
        return new DemoStore() {
            @Override
            public String createDatabase(String name) {
                return server.jdbcUrl(server.createDatabase());
            }

            @Override
            public void close() {
                server.close();
            }
        };
    }
}
