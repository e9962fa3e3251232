package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.LongLane;

/** A short campaign with a real broker; in the long lane one of an hour, or of {@code -Didem.torture.minutes=…}. */
final class BrokerTorture {
    private BrokerTorture() {}

    static Tortured isSurvivedBy(String broker) {
        Tortured torture = LongLane.isOn()
                ? Tortured.by(broker, "--minutes", Tortured.longMinutes())
                : Tortured.by(
                        broker,
                        "--minutes",
                        "0.3",
                        "--messages",
                        "2000",
                        "--workers",
                        "3",
                        "--consumer-kills",
                        "6",
                        "--broker-kills",
                        "1");

        assertThat(torture.cli().code()).as(torture.cli().err()).isZero();
        assertThat(torture.number("messages")).isGreaterThanOrEqualTo(2_000);
        assertThat(torture.number("duplicates")).isGreaterThan(torture.number("publications") * 30 / 100);
        assertThat(torture.number("deliveries")).isGreaterThanOrEqualTo(torture.number("publications"));
        assertThat(torture.number("consumerKills")).isGreaterThanOrEqualTo(6);
        assertThat(torture.number("brokerKills")).isPositive();
        assertThat(torture.number("cuts")).isPositive();
        assertThat(torture.number("lost")).isZero();
        assertThat(torture.number("doubled")).isZero();
        assertThat(torture.number("outOfOrder")).isZero();
        assertThat(torture.cli().err())
                .contains("./idem torture " + broker + " --minutes ", " --seed " + torture.seed());
        return torture;
    }

    /** Messages that never succeed have their letters, although the place of letters was closed again and again. */
    static void hasTheLettersOfAllPoison(Tortured torture) {
        assertThat(torture.number("poison")).isPositive();
        assertThat(torture.number("letterOutages")).isGreaterThan(3);
        assertThat(torture.number("letters")).isGreaterThanOrEqualTo(torture.number("poison"));
        assertThat(torture.number("astray")).isZero();
    }
}
