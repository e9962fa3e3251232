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

/** The campaign can fail: each planted mistake is found, and counted as what it is. */
@ExtendWith(SkipWithoutServer.class)
class TortureDefectsTest {
    /** One worker is paused early and often while the others live, as the one that ignores fences needs it. */
    private static final String SEED = "1281894";

    @ParameterizedTest
    @CsvSource({
        "early-ack, lost",
        "not-durable, lost",
        "no-marker, doubled",
        "no-fence, doubled",
        "no-order, outOfOrder",
        "own-transaction, doubled"
    })
    void everyPlantedDefectIsFound(String defect, String finding) {
        Cli torture = Cli.run(
                "torture",
                "inbox",
                "--minutes",
                "0.3",
                "--messages",
                "5000",
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
