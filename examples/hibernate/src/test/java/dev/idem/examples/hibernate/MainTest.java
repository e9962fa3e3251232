package dev.idem.examples.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.jdbc.JdbcSchema;
import dev.idem.servers.PostgresServer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class MainTest {
    private static final String[] STORY = {
        "Delivery 1: Failed, the broker is told RETRY. Payments: 0",
        "Delivery 2: Processed, the broker is told ACK. Payments: 1",
        "Delivery 3: Duplicate, the broker is told ACK. Payments: 1"
    };

    @Test
    void tellsItsStoryOnH2() throws Exception {
        PrintStream console = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            Main.main(new String[0]);
        } finally {
            System.setOut(console);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8).lines()).containsExactly(STORY);
    }

    @Test
    void tellsTheSameStoryOnPostgreSql() throws Exception {
        PostgresServer server = PostgresServer.shared();
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(server.jdbcUrl(server.createDatabase()));
        JdbcSchema.of(database).apply(); // on a server the tables come from a migration, not from the application
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        Main.tell(database, new PrintStream(printed, true, StandardCharsets.UTF_8));
        assertThat(printed.toString(StandardCharsets.UTF_8).lines()).containsExactly(STORY);
    }
}
