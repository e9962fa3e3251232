package dev.idem.cli.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.servers.SkipWithoutServer;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The campaign can fail: planted mistakes are found, and counted as what they are. One of each kind of finding; docs/inbox.md
 * has the commands for the others, which need longer.
 */
@ExtendWith(SkipWithoutServer.class)
class TortureDefectsCampaign {
    /** One worker is paused early and often while the others live, as the one that ignores fences needs it. */
    private static final String SEED = "1281894";

    @ParameterizedTest
    @CsvSource({"early-ack, lost", "no-marker, doubled", "no-order, outOfOrder"})
    void everyPlantedDefectIsFound(String defect, String finding) {
        Cli torture = Cli.run(
                "torture",
                "inbox",
                "--minutes",
                "0.2",
                "--messages",
                "3000",
                "--seed",
                SEED,
                "--defect",
                defect,
                "--json");

        System.out.println(torture.out());
        assertThat(torture.code()).as(torture.err()).isEqualTo(ExitCodes.CHECK_FAILED);
        JsonNode report = JsonMapper.shared().readTree(torture.lastLine());
        assertThat(report.get("defect").stringValue()).isEqualTo(defect);
        assertThat(report.get(finding).intValue()).as(torture.lastLine()).isPositive();
        assertThat(torture.err()).contains("FAILED", "--defect " + defect);
    }
}
