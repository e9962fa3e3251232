package dev.idem.cli.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.SkipWithoutServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A short campaign. It goes on until there were blows enough, however slow the machine is. */
@ExtendWith(SkipWithoutServer.class)
class TortureTest {
    @Test
    @DisplayName("50,000 stored messages take effect once and in order, whatever is killed, paused and cut")
    void nothingIsLostDoubledOrOutOfOrder() {
        Tortured torture = Tortured.by(
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
                "5");

        assertThat(torture.cli().code()).as(torture.cli().err()).isZero();
        assertThat(torture.number("messages")).isEqualTo(50_000);
        assertThat(torture.number("duplicates")).isGreaterThan(torture.number("deliveries") * 30 / 100);
        assertThat(torture.number("jvmKills")).isGreaterThanOrEqualTo(50);
        assertThat(torture.number("pauses")).isPositive();
        assertThat(torture.number("databaseKills")).isGreaterThanOrEqualTo(5);
        assertThat(torture.number("cuts")).isPositive();
        assertThat(torture.number("clockJumps")).isPositive();
        assertThat(torture.number("unfinished")).isZero();
        assertThat(torture.number("lost")).isZero();
        assertThat(torture.number("doubled")).isZero();
        assertThat(torture.number("calledTwice")).isZero();
        assertThat(torture.number("outOfOrder")).isZero();
        assertThat(torture.number("crashes")).isZero();
        assertThat(torture.number("settled")).isPositive();
        assertThat(torture.number("parkedPlanned")).isPositive();
        assertThat(torture.number("parked"))
                .isEqualTo(torture.number("parkedPlanned") + torture.number("stepsChanged"));
        assertThat(torture.report().get("seed").longValue()).isEqualTo(torture.seed());
        assertThat(torture.cli().err()).contains("./idem torture inbox --minutes 1.2 --seed " + torture.seed());
    }
}
