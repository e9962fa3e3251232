package dev.idem.torture;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code idem torture pipeline}: kills everything between one topic of Kafka and another, and counts effects. */
@Command(
        name = "pipeline",
        description =
                "Sends messages through a Kafka broker to consumer JVMs, which publish one message for each through an outbox"
                        + " in a PostgreSQL to another topic, and read that as well; it starts and removes the servers. More than"
                        + " 30 %% of what is published are duplicates. The JVMs, each consumer, relay and receiver in one, are killed"
                        + " (SIGKILL) and paused (SIGSTOP); the broker is killed and restarted on its data, connections to the"
                        + " database are cut in the middle of a commit. Then counts, in the receiver's business tables alone, which"
                        + " messages have no effect, more than one, or one out of order.",
        footer = {
            "",
            "Examples:",
            "  idem torture pipeline                            three minutes",
            "  idem torture pipeline --minutes 60 --seed 42     longer, and the same messages each time",
            "  idem torture pipeline --minutes 1 --defect after-commit   see it fail: a planted mistake"
        })
final class TorturePipelineCommand extends BrokerCampaignCommand {
    @Option(names = "--defect", paramLabel = "NAME", completionCandidates = Defects.class, description = PLANT)
    @Nullable
    String defect;

    TorturePipelineCommand() {
        super(Subject.PIPELINE);
    }

    @Override
    @Nullable
    String defect() {
        return defect;
    }

    /** For the help. */
    static final class Defects extends Defect.Names {
        Defects() {
            super(Subject.PIPELINE);
        }
    }
}
