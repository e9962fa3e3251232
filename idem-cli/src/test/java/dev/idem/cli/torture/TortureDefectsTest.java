package dev.idem.cli.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.servers.SkipWithoutServer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The campaign can fail: planted mistakes are found. Each run ends with the first effect that contradicts the plan. */
@ExtendWith(SkipWithoutServer.class)
class TortureDefectsTest {
    private static final int CAMPAIGNS = 3;

    /** A blow must hit a mistake in its moment, so a campaign may miss it; one that all of them miss is not found. */
    @ParameterizedTest
    @MethodSource("defects")
    void aPlantedDefectIsFound(String defect) {
        long seed =
                Long.getLong("idem.torture.seed", ThreadLocalRandom.current().nextInt(1, 1_000_000_000));
        Cli torture = campaign(defect, seed);
        for (int more = 1; more < CAMPAIGNS && torture.code() == ExitCodes.OK; more++) {
            torture = campaign(defect, ++seed);
        }
        assertThat(torture.code()).as(torture.err()).isEqualTo(ExitCodes.CHECK_FAILED);
        JsonNode report = JsonMapper.shared().readTree(torture.lastLine());
        assertThat(report.get("defect").stringValue()).isEqualTo(defect);
        assertThat(List.of("lost", "doubled", "outOfOrder"))
                .as(torture.lastLine())
                .anyMatch(finding -> report.get(finding).intValue() > 0);
        assertThat(torture.err()).contains("FAILED", "--seed " + seed, "--defect " + defect);
    }

    private static Cli campaign(String defect, long seed) {
        Cli torture = Cli.run(
                "torture",
                "inbox",
                "--minutes",
                "1",
                "--messages",
                "10000",
                "--jvm-kills",
                "10",
                "--database-kills",
                "4",
                "--seed",
                Long.toString(seed),
                "--defect",
                defect,
                "--json");
        System.out.println(torture.err() + torture.out());
        return torture;
    }

    /** Two of them in every build, others each time; all with {@code -Didem.torture.defects=all}. */
    static List<String> defects() {
        List<String> all = new ArrayList<>(Defect.labels());
        Collections.shuffle(all);
        return "all".equals(System.getProperty("idem.torture.defects")) ? all : all.subList(0, 2);
    }
}
