package dev.idem.cli.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.ExitCodes;
import dev.idem.servers.SkipWithoutServer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The campaigns can fail: every planted mistake is found. Most runs end with the first effect that contradicts the plan. */
@ExtendWith(SkipWithoutServer.class)
class TortureDefectsTest {
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("inInbox")
    void everyDefectPlantedAroundTheInboxIsFound(String subject, String defect) {
        isFound(
                defect,
                Tortured.by(
                        subject,
                        "--minutes",
                        "1",
                        "--messages",
                        "10000",
                        "--jvm-kills",
                        "10",
                        "--database-kills",
                        "4",
                        "--defect",
                        defect));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("atBrokers")
    void everyDefectPlantedAtABrokerIsFound(String subject, String defect) {
        isFound(
                defect,
                Tortured.by(
                        subject,
                        "--minutes",
                        "0.3",
                        "--messages",
                        "4000",
                        "--consumer-kills",
                        "10",
                        "--broker-kills",
                        "1",
                        "--defect",
                        defect));
    }

    private static void isFound(String defect, Tortured torture) {
        assertThat(torture.cli().code()).as(torture.cli().err()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(torture.report().get("defect").stringValue()).isEqualTo(defect);
        assertThat(List.of("lost", "doubled", "outOfOrder"))
                .as(torture.cli().lastLine())
                .anyMatch(finding -> torture.number(finding) > 0);
        assertThat(torture.cli().err()).contains("FAILED", "--seed " + torture.seed(), "--defect " + defect);
    }

    static Stream<Arguments> inInbox() {
        return of(Subject.INBOX);
    }

    static Stream<Arguments> atBrokers() {
        return Stream.concat(of(Subject.KAFKA), of(Subject.RABBITMQ));
    }

    private static Stream<Arguments> of(Subject subject) {
        return Defect.labels(subject).stream().map(defect -> Arguments.of(subject.label(), defect));
    }
}
