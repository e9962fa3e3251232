package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.LongLane;
import dev.idem.servers.SkipWithoutServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A short campaign; in the long lane one of an hour, or of {@code -Didem.torture.minutes=…}. It goes on until there were
 * blows enough, however slow the machine is.
 */
@ExtendWith(SkipWithoutServer.class)
class TortureTest {
    @Test
    @DisplayName("stored messages take effect once and in order, whatever is killed, paused and cut")
    void nothingIsLostDoubledOrOutOfOrder() {
        Tortured torture = LongLane.isOn()
                ? Tortured.by("inbox", "--minutes", Tortured.longMinutes(), "--workers", "4")
                : Tortured.by(
                        "inbox",
                        "--minutes",
                        "0.4",
                        "--messages",
                        "10000",
                        "--workers",
                        "3",
                        "--jvm-kills",
                        "15",
                        "--database-kills",
                        "2");

        assertThat(torture.cli().code()).as(torture.cli().err()).isZero();
        assertThat(torture.number("messages")).isGreaterThanOrEqualTo(10_000);
        assertThat(torture.number("duplicates")).isGreaterThan(torture.number("deliveries") * 30 / 100);
        assertThat(torture.number("jvmKills")).isGreaterThanOrEqualTo(15);
        assertThat(torture.number("pauses")).isPositive();
        assertThat(torture.number("databaseKills")).isGreaterThanOrEqualTo(2);
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
        assertThat(torture.cli().err()).contains("./idem torture inbox --minutes ", " --seed " + torture.seed());
    }
}
