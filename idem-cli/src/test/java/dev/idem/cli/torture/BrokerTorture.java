package dev.idem.cli.torture;

import static org.assertj.core.api.Assertions.assertThat;

/** A short campaign with a real broker. */
final class BrokerTorture {
    private BrokerTorture() {}

    static Tortured isSurvivedBy(String broker) {
        Tortured torture = Tortured.by(
                broker,
                "--minutes",
                "0.5",
                "--messages",
                "4000",
                "--workers",
                "3",
                "--consumer-kills",
                "20",
                "--broker-kills",
                "3");

        assertThat(torture.cli().code()).as(torture.cli().err()).isZero();
        assertThat(torture.number("messages")).isEqualTo(4_000);
        assertThat(torture.number("duplicates")).isGreaterThan(torture.number("publications") * 30 / 100);
        assertThat(torture.number("deliveries")).isGreaterThanOrEqualTo(torture.number("publications"));
        assertThat(torture.number("consumerKills")).isGreaterThanOrEqualTo(20);
        assertThat(torture.number("brokerKills")).isGreaterThanOrEqualTo(3);
        assertThat(torture.number("cuts")).isPositive();
        assertThat(torture.number("poison")).isPositive();
        assertThat(torture.number("letterOutages")).isGreaterThan(3);
        assertThat(torture.number("letters")).isGreaterThanOrEqualTo(torture.number("poison"));
        assertThat(torture.number("astray")).isZero();
        assertThat(torture.number("lost")).isZero();
        assertThat(torture.number("doubled")).isZero();
        assertThat(torture.number("outOfOrder")).isZero();
        assertThat(torture.cli().err())
                .contains("./idem torture " + broker + " --minutes 0.5 --seed " + torture.seed());
        return torture;
    }
}
