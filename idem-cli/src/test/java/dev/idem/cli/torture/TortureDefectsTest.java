package dev.idem.cli.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.servers.SkipWithoutServer;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The campaign can fail: every planted mistake is found. Each run ends with the first effect that contradicts the plan. */
@ExtendWith(SkipWithoutServer.class)
class TortureDefectsTest {
    @ParameterizedTest
    @MethodSource("defects")
    void everyPlantedDefectIsFound(String defect) {
        long seed =
                Long.getLong("idem.torture.seed", ThreadLocalRandom.current().nextInt(1, 1_000_000_000));

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
        assertThat(torture.code()).as(torture.err()).isEqualTo(ExitCodes.CHECK_FAILED);
        JsonNode report = JsonMapper.shared().readTree(torture.lastLine());
        assertThat(report.get("defect").stringValue()).isEqualTo(defect);
        assertThat(List.of("lost", "doubled", "outOfOrder"))
                .as(torture.lastLine())
                .anyMatch(finding -> report.get(finding).intValue() > 0);
        assertThat(torture.err()).contains("FAILED", "--seed " + seed, "--defect " + defect);
    }

    static List<String> defects() {
        return Defect.labels();
    }
}
