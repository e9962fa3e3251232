package dev.idem.cli.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.Cli;
import dev.idem.servers.SkipWithoutServer;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A short campaign, on a seed of its own each time. It goes on until there were blows enough, however slow the machine is.
 * {@code -Didem.torture.seed=…} repeats one; it prints how.
 */
@ExtendWith(SkipWithoutServer.class)
class TortureTest {
    @Test
    @DisplayName("50,000 stored messages take effect once and in order, whatever is killed, paused and cut")
    void nothingIsLostDoubledOrOutOfOrder() {
        long seed =
                Long.getLong("idem.torture.seed", ThreadLocalRandom.current().nextInt(1, 1_000_000_000));

        Cli torture = Cli.run(
                "torture",
                "inbox",
                "--minutes",
                "1.2",
                "--messages",
                "50000",
                "--workers",
                "4",
                "--jvm-kills",
                "50",
                "--database-kills",
                "5",
                "--seed",
                Long.toString(seed),
                "--json");

        System.out.println(torture.err() + torture.out());
        assertThat(torture.code()).as(torture.err()).isZero();
        JsonNode report = JsonMapper.shared().readTree(torture.lastLine());
        assertThat(report.get("messages").intValue()).isEqualTo(50_000);
        assertThat(report.get("duplicates").intValue())
                .isGreaterThan(report.get("deliveries").intValue() * 30 / 100);
        assertThat(report.get("jvmKills").intValue()).isGreaterThanOrEqualTo(50);
        assertThat(report.get("pauses").intValue()).isPositive();
        assertThat(report.get("databaseKills").intValue()).isGreaterThanOrEqualTo(5);
        assertThat(report.get("cuts").intValue()).isPositive();
        assertThat(report.get("lost").intValue()).isZero();
        assertThat(report.get("doubled").intValue()).isZero();
        assertThat(report.get("outOfOrder").intValue()).isZero();
        assertThat(report.get("parked").intValue())
                .isPositive()
                .isEqualTo(report.get("parkedPlanned").intValue());
        assertThat(report.get("seed").longValue()).isEqualTo(seed);
        assertThat(torture.err()).contains("./idem torture inbox --minutes 1.2 --seed " + seed);
    }
}
