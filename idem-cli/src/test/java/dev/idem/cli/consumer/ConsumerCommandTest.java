package dev.idem.cli.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.jdbc.JdbcStore;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ConsumerCommandTest {
    private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

    @BeforeEach
    void knowTwoConsumers() {
        var dataSource = new JdbcDataSource();
        dataSource.setURL(url);
        try (var store = JdbcStore.create(dataSource)) {
            store.register("billing");
            store.register("mailer");
        }
    }

    @Test
    void listsThemByName() {
        assertThat(Cli.run("consumer", "list", "--url", url).out().lines())
                .map(String::strip)
                .satisfiesExactly(
                        line -> assertThat(line).endsWith("billing"),
                        line -> assertThat(line).endsWith("mailer"));
        assertThat(Cli.run("consumer", "list", "--url", url, "--json").out())
                .startsWith("{\"consumers\":[{")
                .contains("\"name\":\"mailer\"");
    }

    @Test
    void renamesOne() {
        Cli renamed = Cli.run("consumer", "rename", "billing", "payment-service", "--url", url);

        assertThat(renamed.code()).isZero();
        assertThat(Cli.run("consumer", "list", "--url", url).out())
                .contains("payment-service", "mailer")
                .doesNotContain("billing");
    }

    @Test
    void unknownNameIsNotFound() {
        Cli renamed = Cli.run("consumer", "rename", "shipping", "payment-service", "--url", url);

        assertThat(renamed.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(renamed.err()).contains("no consumer shipping");
    }

    @Test
    void takenNameIsRefused() {
        Cli renamed = Cli.run("consumer", "rename", "billing", "mailer", "--url", url);

        assertThat(renamed.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(renamed.err().lines()).singleElement().asString().contains("taken");
    }

    @Test
    void impossibleNameIsWrongUsage() {
        assertThat(Cli.run("consumer", "rename", "billing", "two words", "--url", url)
                        .code())
                .isEqualTo(ExitCodes.USAGE);
    }
}
