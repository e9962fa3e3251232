package dev.idem.torture;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What the campaigns with real brokers have in common. */
abstract class BrokerCampaignCommand extends CampaignCommand {
    @Option(
            names = "--consumer-kills",
            paramLabel = "N",
            description = "Go on until so many consumers were killed; default 22 for each minute.")
    @Nullable
    Integer consumerKills;

    @Option(
            names = "--broker-kills",
            paramLabel = "N",
            description = "Kill the broker so often; default 2.4 for each minute.")
    @Nullable
    Integer brokerKills;

    BrokerCampaignCommand(Subject subject) {
        super(subject);
    }

    @Override
    @Nullable
    Integer kills() {
        return consumerKills;
    }

    @Override
    @Nullable
    Integer serverKills() {
        return brokerKills;
    }
}
