package dev.idem.cli.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Transaction;
import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(SkipWithoutServer.class)
class SchemaCommandTest {
    @ParameterizedTest
    @EnumSource
    void printsTheShippedFile(Database database) throws IOException {
        Cli printed = Cli.run("schema", "print", "--database", database.label());

        assertThat(printed.code()).isZero();
        assertThat(printed.out())
                .isEqualTo(
                        shipped(database).replaceAll("\\$\\{prefix}", "idem_").replaceAll("\\$\\{(\\w+)}", "idem_$1"));
    }

    @Test
    void printsAnotherPrefixAndSchema() {
        Cli printed = Cli.run("schema", "print", "--database", "postgresql", "--prefix", "inbox_", "--schema", "shop");

        assertThat(printed.out()).contains("inbox_marker", "shop").doesNotContain("idem_marker", "${");
    }

    @Test
    void appliesAndValidatesOnH2() {
        appliesAndValidates("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    }

    @Test
    void appliesAndValidatesOnPostgres() {
        PostgresServer server = PostgresServer.shared();
        String database = server.createDatabase();
        try {
            appliesAndValidates(server.jdbcUrl(database));
        } finally {
            server.dropDatabase(database);
        }
    }

    @Test
    @DisplayName("PG-29 applies, sweeps and prints markers in partitions, and tells which")
    void markersInPartitions() {
        PostgresServer server = PostgresServer.shared();
        String database = server.createDatabase();
        String url = server.jdbcUrl(database);
        try {
            Cli applied = Cli.run("schema", "apply", "--partitioned", "--days-back", "2", "--url", url);
            assertThat(applied.code()).as(applied.err()).isZero();
            assertThat(Cli.run("schema", "apply", "--url", url).code())
                    .as("again")
                    .isZero();
            assertThat(Cli.run("schema", "validate", "--url", url).code()).isZero();

            JsonNode swept = json(Cli.run("retention", "run", "--json", "--url", url));
            assertThat(swept.get("partitions").get("permitted").booleanValue()).isTrue();
            assertThat(swept.get("partitions").get("created")).isEmpty();
            assertThat(Cli.run("retention", "run", "--dry-run", "--url", url).out())
                    .contains("partitions: would create none, would drop none");
        } finally {
            server.dropDatabase(database);
        }
    }

    @Test
    @DisplayName("RP-05 markers that are gone are found, and accepted by a person with a reason")
    void acceptsALoss() throws Exception {
        String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
        var dataSource = new JdbcDataSource();
        dataSource.setURL(url);
        for (int start = 0; start < 2; start++) {
            try (Inbox inbox = Inbox.create(JdbcStore.create(dataSource))) {
                inbox.run("mail", Message.of("m1", new byte[1]), Transaction::nothingToDo);
            }
        }
        assertThat(Cli.run("schema", "validate", "--url", url).code()).isZero();
        try (var connection = dataSource.getConnection();
                var statement = connection.createStatement()) {
            statement.execute("TRUNCATE TABLE idem_marker");
        }

        Cli invalid = Cli.run("schema", "validate", "--url", url);
        assertThat(invalid.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(invalid.out()).contains("ERROR markers", "(mail)", "idem schema accept-loss");
        assertThat(Cli.run("schema", "accept-loss", "--url", url).code()).isEqualTo(ExitCodes.USAGE);
        Cli accepted = Cli.run("schema", "accept-loss", "--reason", "a test", "--url", url);
        assertThat(accepted.out()).contains("mail: markers are gone");
        assertThat(json(Cli.run("schema", "accept-loss", "--reason", "a test", "--json", "--url", url))
                        .get("consumersWithoutMarkers"))
                .isEmpty();
        assertThat(Cli.run("schema", "validate", "--url", url).code()).isZero();
    }

    @Test
    void aPlainTableCannotBecomeAPartitionedOne() {
        PostgresServer server = PostgresServer.shared();
        String database = server.createDatabase();
        String url = server.jdbcUrl(database);
        try {
            assertThat(Cli.run("schema", "apply", "--url", url).code()).isZero();
            Cli again = Cli.run("schema", "apply", "--partitioned", "--url", url);
            assertThat(again.code()).isNotZero();
            assertThat(again.err()).contains("not in partitions", "docs/operations.md");
            assertThat(Cli.run("schema", "validate", "--url", url).code()).isZero();
        } finally {
            server.dropDatabase(database);
        }
    }

    @Test
    void partitionsAreForPostgresOnly() {
        Cli print = Cli.run("schema", "print", "--database", "mariadb", "--partitioned");
        assertThat(print.code()).isNotZero();
        assertThat(print.err()).contains("--partitioned is for postgresql only");
        Cli apply = Cli.run("schema", "apply", "--partitioned", "--url", "jdbc:h2:mem:" + UUID.randomUUID());
        assertThat(apply.code()).isNotZero();
        assertThat(apply.err()).contains("--partitioned is for postgresql only, and this is H2");
        assertThat(Cli.run("schema", "print", "--database", "postgresql", "--partitioned")
                        .out())
                .contains(") PARTITION BY RANGE (message_key);", "CREATE TABLE IF NOT EXISTS idem_retention");
    }

    private static void appliesAndValidates(String url) {
        Cli before = Cli.run("schema", "validate", "--url", url);
        assertThat(before.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(before.out()).startsWith("ERROR ").contains("  -> ", "idem schema apply");

        JsonNode findings = json(Cli.run("schema", "validate", "--url", url, "--json"));
        assertThat(findings.get("valid").booleanValue()).isFalse();
        assertThat(findings.get("findings").get(0).propertyNames()).contains("severity", "check", "problem", "action");

        Cli applied = Cli.run("schema", "apply", "--url", url);
        assertThat(applied.code()).as(applied.err()).isZero();
        assertThat(Cli.run("schema", "apply", "--url", url).code()).as("again").isZero();

        Cli after = Cli.run("schema", "validate", "--url", url, "--json");
        assertThat(after.code()).isZero();
        assertThat(json(after).get("valid").booleanValue()).isTrue();
    }

    private static JsonNode json(Cli cli) {
        return JsonMapper.shared().readTree(cli.lastLine());
    }

    private static String shipped(Database database) throws IOException {
        String name = "schema/v" + JdbcSchema.VERSION + "/" + database.label() + ".sql";
        try (InputStream file = JdbcSchema.class.getResourceAsStream(name)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
