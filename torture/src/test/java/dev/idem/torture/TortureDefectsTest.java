package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.ExitCodes;
import dev.idem.servers.LongLane;
import dev.idem.servers.SkipWithoutServer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The campaigns can fail: planted mistakes are found. Most runs end with the first effect that contradicts the plan. */
@ExtendWith(SkipWithoutServer.class)
class TortureDefectsTest {
    private static final int CAMPAIGNS = 3;

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("defects")
    void aPlantedDefectIsFound(Subject subject, String defect) {
        Tortured torture = campaign(subject, defect);
        // A blow must hit a mistake in its moment, so a campaign may miss it; one that all of them miss is not found.
        for (int more = 1; more < CAMPAIGNS && torture.cli().code() == ExitCodes.OK; more++) {
            torture = campaign(subject, defect);
        }
        Tortured last = torture;
        assertThat(last.cli().code()).as(last.cli().err()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(last.report().get("defect").stringValue()).isEqualTo(defect);
        List<String> findings = new ArrayList<>(List.of("lost", "doubled", "outOfOrder"));
        if (subject == Subject.INBOX) {
            findings.addAll(List.of("calledTwice", "crashes"));
        }
        assertThat(findings).as(last.cli().lastLine()).anyMatch(finding -> last.number(finding) > 0);
        assertThat(last.cli().err()).contains("FAILED", "--seed " + last.seed(), "--defect " + defect);
    }

    private static Tortured campaign(Subject subject, String defect) {
        boolean inbox = subject == Subject.INBOX;
        return Tortured.by(
                subject.label(),
                "--minutes",
                inbox ? "1" : "0.3",
                "--messages",
                inbox ? "10000" : "4000",
                subject.killsOption(),
                "10",
                subject.serverKillsOption(),
                inbox ? "4" : "1",
                "--defect",
                defect);
    }

    /** One for the inbox and one for a listener in every build, others each time; all in the long lane. */
    static Stream<Arguments> defects() {
        List<Subject> listeners = new ArrayList<>(List.of(Subject.KAFKA, Subject.RABBITMQ, Subject.PIPELINE));
        Collections.shuffle(listeners);
        return Stream.concat(
                some(Subject.INBOX, 1),
                all() ? listeners.stream().flatMap(subject -> some(subject, 1)) : some(listeners.get(0), 1));
    }

    private static boolean all() {
        return LongLane.setting("idem.torture.defects", "some", "all").equals("all");
    }

    private static Stream<Arguments> some(Subject subject, int number) {
        List<String> all = new ArrayList<>(Defect.labels(subject));
        Collections.shuffle(all);
        return (all() ? all : all.subList(0, number)).stream().map(defect -> Arguments.of(subject, defect));
    }
}
