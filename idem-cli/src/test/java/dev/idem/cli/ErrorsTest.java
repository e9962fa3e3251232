package dev.idem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("quick")
class ErrorsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "schema",
                "consumer",
                "no-such-command",
                "demo --no-such-option",
                "schema print",
                "schema print --database oracle",
                "schema print --database h2 --prefix x;drop",
                "schema apply",
                "schema validate --url jdbc:h2:mem:errors --password a --password-env B",
                "consumer rename --url jdbc:h2:mem:errors only-one",
                "inbox",
                "inbox show --url jdbc:h2:mem:errors",
                "inbox show --message-id m --url jdbc:h2:mem:errors",
                "inbox list --limit 0 --url jdbc:h2:mem:errors",
                "inbox list --state done --url jdbc:h2:mem:errors",
                "inbox list --state completed --url jdbc:h2:mem:errors",
                "inbox list --older-than long --url jdbc:h2:mem:errors",
                "inbox retry 1 --url jdbc:h2:mem:errors",
                "inbox retry --reason r --url jdbc:h2:mem:errors",
                "inbox skip --reason r --consumer c --url jdbc:h2:mem:errors",
                "inbox park 1 --reason r --all --url jdbc:h2:mem:errors",
                "demo --messages many",
                "demo --messages 0",
                "demo --duplicates 101",
                "demo --kills -1",
                "demo --messages 3 --kills 4",
                "demo --store oracle",
                "demo --naive idem",
                "demo --broker mqtt",
                "demo --broker kafka --mode queued"
            })
    void wrongUsageIsOneLineThatPointsToTheHelp(String line) {
        Cli wrong = Cli.run(line.isEmpty() ? new String[0] : line.split(" "));

        assertThat(wrong.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(wrong.out()).isEmpty();
        assertThat(wrong.err().lines().findFirst().orElseThrow())
                .startsWith("idem")
                .contains("--help'.");
        assertThat(wrong.err()).doesNotContain("\tat ");
    }

    @Test
    void databaseOutOfReachIsOneLineThatSaysWhatToCheck() throws IOException {
        int closed;
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closed = socket.getLocalPort();
        }

        Cli failed = Cli.run("schema", "validate", "--url", "jdbc:postgresql://127.0.0.1:" + closed + "/shop");

        assertThat(failed.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(failed.err().lines()).singleElement().asString().contains("cannot be reached", "Check --url");
    }

    @Test
    void missingTablesAreSaidOnceWithWhatToDo() {
        Cli failed = Cli.run("consumer", "list", "--url", "jdbc:h2:mem:without-tables");

        assertThat(failed.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(failed.err().lines())
                .singleElement()
                .asString()
                .contains("idem schema apply")
                .containsOnlyOnce("SQLState");
    }

    @Test
    void addressThatNoDriverTakesNamesTheOnesThatAre() {
        Cli failed = Cli.run("schema", "apply", "--url", "jdbc:oracle:thin:@//db/shop");

        assertThat(failed.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(failed.err().lines()).singleElement().asString().contains("jdbc:postgresql:");
    }

    @Test
    void missingPasswordVariableIsNamed() {
        Cli failed =
                Cli.run("schema", "apply", "--url", "jdbc:h2:mem:errors", "--password-env", "IDEM_NO_SUCH_VARIABLE");

        assertThat(failed.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(failed.err().lines()).singleElement().asString().contains("IDEM_NO_SUCH_VARIABLE is not set");
    }

    @Test
    void benchmarksAreSaidToBeElsewhere() {
        Cli failed = Cli.run("bench", "all", "--quick");

        assertThat(failed.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(failed.err().lines()).singleElement().asString().contains("Run ./idem bench");
    }

    @Test
    void verboseAddsTheStackTrace() {
        Cli failed = Cli.run("schema", "apply", "--url", "jdbc:oracle:thin:@//db/shop", "--verbose");

        assertThat(failed.err()).contains("\tat ");
    }
}
