package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.ExitCodes;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Tag("quick")
class TortureArgumentsTest {
    @ParameterizedTest
    @CsvSource({
        "inbox, --minutes, 0, must be between 0.05 and 10000",
        "inbox, --minutes, NaN, must be between 0.05 and 10000",
        "inbox, --messages, 0, must be between 1 and 50000000",
        "inbox, --workers, 11, must be between 1 and 10",
        "inbox, --jvm-kills, 0, must be between 1 and 1000000",
        "inbox, --database-kills, -1, must be between 1 and 1000000",
        "inbox, --defect, nonsense, 'one of early-ack, not-durable, no-marker, no-fence, no-order, no-turns, half-done, called-again, by-rows, own-transaction'",
        "inbox, --seed, x, x",
        "kafka, --consumer-kills, 0, must be between 1 and 1000000",
        "rabbitmq, --broker-kills, 0, must be between 1 and 1000000",
        "kafka, --defect, auto-ack, 'one of early-ack, no-marker, own-transaction, highest-offset'",
        "pipeline, --defect, auto-ack, 'one of own-transaction, after-commit'",
        "rabbitmq, --defect, highest-offset, 'one of early-ack, no-marker, own-transaction, auto-ack'"
    })
    void wrongOptionsAreUsageErrorsThatSayWhatIsRight(String subject, String option, String value, String answer) {
        Cli torture = Cli.run("torture", subject, option, value);

        assertThat(torture.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(torture.err()).contains(option, answer);
        assertThat(torture.out()).isEmpty();
    }

    @Test
    void theRepeatedCommandIsTheSameCampaign() {
        isTheSame(new TortureInboxCommand(), Subject.INBOX, Defect.NO_ORDER);
        isTheSame(new TortureKafkaCommand(), Subject.KAFKA, Defect.HIGHEST_OFFSET);
        isTheSame(new TortureRabbitCommand(), Subject.RABBITMQ, Defect.AUTO_ACK);
        isTheSame(new TorturePipelineCommand(), Subject.PIPELINE, Defect.AFTER_COMMIT);
    }

    private static void isTheSame(CampaignCommand command, Subject subject, Defect defect) {
        TortureSettings settings = new TortureSettings(subject, Duration.ofSeconds(90), 42, 700, 2, 7, 3, defect);
        String[] args = settings.command().split(" ", -1);

        new CommandLine(command).parseArgs(java.util.Arrays.copyOfRange(args, 3, args.length));

        assertThat(args).startsWith("./idem", "torture", subject.label());
        assertThat(command.settings()).isEqualTo(settings);
    }

    @Test
    void messagesAndKillsGrowWithTheMinutes() {
        var command = new TortureInboxCommand();
        new CommandLine(command).parseArgs("--minutes", "0.5", "--seed", "1");

        assertThat(command.settings())
                .isEqualTo(
                        new TortureSettings(Subject.INBOX, Duration.ofSeconds(30), 1, 10_000, 3, 11, 1, Defect.NONE));
    }
}
