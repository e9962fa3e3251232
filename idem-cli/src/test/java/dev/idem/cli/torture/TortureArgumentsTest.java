package dev.idem.cli.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class TortureArgumentsTest {
    @ParameterizedTest
    @CsvSource({
        "--minutes, 0, must be between 0.05 and 10000",
        "--minutes, NaN, must be between 0.05 and 10000",
        "--messages, 0, must be between 1 and 50000000",
        "--workers, 11, must be between 1 and 10",
        "--jvm-kills, 0, must be between 1 and 1000000",
        "--database-kills, -1, must be between 1 and 1000000",
        "--defect, nonsense, 'must be one of early-ack, not-durable, no-marker, no-fence, no-order, own-transaction'",
        "--seed, x, x"
    })
    void wrongOptionsAreUsageErrorsThatSayWhatIsRight(String option, String value, String answer) {
        Cli torture = Cli.run("torture", "inbox", option, value);

        assertThat(torture.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(torture.err()).contains(option, answer);
        assertThat(torture.out()).isEmpty();
    }

    @Test
    void theRepeatedCommandIsTheSameCampaign() {
        TortureSettings settings = new TortureSettings(Duration.ofSeconds(90), 42, 700, 2, 7, 3, Defect.NO_ORDER);
        String[] args = settings.command().split(" ", -1);
        var command = new TortureInboxCommand();

        new CommandLine(command).parseArgs(java.util.Arrays.copyOfRange(args, 3, args.length));

        assertThat(args).startsWith("./idem", "torture", "inbox");
        assertThat(command.settings()).isEqualTo(settings);
    }

    @Test
    void messagesAndKillsGrowWithTheMinutes() {
        var command = new TortureInboxCommand();
        new CommandLine(command).parseArgs("--minutes", "0.5", "--seed", "1");

        assertThat(command.settings())
                .isEqualTo(new TortureSettings(Duration.ofSeconds(30), 1, 10_000, 3, 11, 1, Defect.NONE));
    }
}
