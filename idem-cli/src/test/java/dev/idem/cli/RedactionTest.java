package dev.idem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("quick")
class RedactionTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:h2:mem:x;PASSWORD=hunter22;NO_SUCH_SETTING=1",
                "jdbc:h2:mem:x;NO_SUCH_SETTING=1;password=hunter22 with blanks",
                "jdbc:h2:nowhere:x;USER=sa;PASSWORD=hunter22",
                "jdbc:mysql://u:hunter22@127.0.0.1:1/shop",
                "jdbc:postgresql://127.0.0.1:1/shop?user=u&password=hunter22&sslmode=no",
                "jdbc:postgresql://127.0.0.1:1/shop?sslpassword=hunter22&sslmode=no",
                "jdbc:mariadb://127.0.0.1:1/shop?password=hunter22"
            })
    @DisplayName("no error of a command quotes the password of its address, stack trace included")
    void errorsOfCommands(String url) {
        Cli failed = Cli.run("consumer", "list", "--verbose", "--url", url);

        assertThat(failed.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(failed.err()).isNotEmpty().doesNotContain("hunter22", "with blanks");
    }

    @Test
    @DisplayName("addresses of brokers and usage errors are redacted too")
    void usage() {
        Cli unknown = Cli.run("dlq", "list", "--no-such-option", "amqp://u:hunter22@mq/shop", "--password=hunter23");

        assertThat(unknown.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(unknown.err()).doesNotContain("hunter22", "hunter23");
    }

    @Test
    void textsOfOthers() {
        assertThat(Redaction.patterns()
                        .apply("cannot reach amqps://u:p@ss@mq:5671/v, password=x; jdbc:x;PASSWORD=y;A=1"))
                .isEqualTo("cannot reach amqps://u:***@mq:5671/v, password=***; jdbc:x;PASSWORD=***;A=1");
        assertThat(Redaction.of(List.of("--password", "tiger", "--password-env=PG"))
                        .apply("tiger PG"))
                .isEqualTo("*** PG");
        assertThat(Redaction.of(List.of("--rabbitmq=amqp://u:pa/ss wd@mq")).apply("no amqp://u:pa/ss wd@mq"))
                .isEqualTo("no amqp://u:***@mq");
        assertThat(Redaction.patterns().apply("nothing at host:1234 of jdbc:h2:mem:x"))
                .isEqualTo("nothing at host:1234 of jdbc:h2:mem:x");
    }
}
