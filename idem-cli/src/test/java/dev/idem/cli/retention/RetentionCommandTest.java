package dev.idem.cli.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Transaction;
import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.jdbc.JdbcStore;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RetentionCommandTest {
    private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

    @BeforeEach
    void oneOldAndOneNewMarker() throws Exception {
        var dataSource = new JdbcDataSource();
        dataSource.setURL(url);
        try (var inbox = Inbox.create(JdbcStore.create(dataSource))) {
            inbox.run("billing", Message.of("old", new byte[0]), Transaction::nothingToDo);
            inbox.run("billing", Message.of("new", new byte[0]), Transaction::nothingToDo);
        }
        try (var connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "UPDATE idem_marker SET marked_at = DATEADD(DAY, -8, marked_at)" + " WHERE readable = 'old'");
        }
    }

    @Test
    void aDryRunCountsAndRemovesNothing() throws Exception {
        Cli dry = Cli.run("retention", "run", "--dry-run", "--url", url);

        assertThat(dry.code()).isZero();
        assertThat(dry.out().strip()).isEqualTo("billing: window 7d, would remove 1 markers and 0 results");
        assertThat(markers()).isEqualTo(2);
    }

    @Test
    void aRunRemovesWhatIsOlderThanTheWindow() throws Exception {
        Cli run = Cli.run("retention", "run", "--json", "--consumer", "billing", "--url", url);

        assertThat(run.code()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .startsWith(
                        "{\"dryRun\":false,\"consumers\":[{\"consumer\":\"billing\",\"window\":\"PT168H\",\"cutoff\":\"")
                .contains("\"markers\":1,\"results\":0}]}");
        assertThat(markers()).isEqualTo(1);
    }

    @Test
    void anUnknownConsumerIsNotFound() {
        Cli run = Cli.run("retention", "run", "--consumer", "shipping", "--url", url);

        assertThat(run.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(run.err()).contains("no consumer shipping");
    }

    private long markers() throws Exception {
        try (var connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM idem_marker")) {
            row.next();
            return row.getLong(1);
        }
    }
}
