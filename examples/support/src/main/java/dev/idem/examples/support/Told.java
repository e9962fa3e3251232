package dev.idem.examples.support;

import dev.idem.jdbc.JdbcSchema;
import dev.idem.servers.PostgresServer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** For the tests of the examples: the lines that an example has printed. */
public final class Told {
    private Told() {}

    /** An example that is given where to print. */
    @FunctionalInterface
    public interface Story {
        void tell(PrintStream out) throws Exception;
    }

    /** Its {@code main}. */
    @FunctionalInterface
    public interface Program {
        void run(String[] args) throws Exception;
    }

    public static List<String> by(Story story) throws Exception {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        story.tell(new PrintStream(printed, true, StandardCharsets.UTF_8));
        return printed.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** As it is run by its reader, without arguments. */
    public static List<String> byMain(Program program) throws Exception {
        PrintStream console = System.out;
        try {
            return by(out -> {
                System.setOut(out);
                program.run(new String[0]);
            });
        } finally {
            System.setOut(console);
        }
    }

    /** An empty database on a server. There the tables come from a migration, not from the application. */
    public static DataSource postgres() throws Exception {
        PostgresServer server = PostgresServer.shared();
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(server.jdbcUrl(server.createDatabase()));
        JdbcSchema.of(database).apply();
        return database;
    }
}
