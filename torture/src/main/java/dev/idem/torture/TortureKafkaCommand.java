package dev.idem.torture;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code idem torture kafka}: kills and pauses everything around the listener of Kafka, and counts effects. */
@Command(
        name = "kafka",
        description =
                "Sends messages through a Kafka broker and a PostgreSQL, which it starts and removes, to a group of"
                        + " consumer JVMs. More than 30 %% of what is published are duplicates. Consumers are killed (SIGKILL) and"
                        + " paused until the group takes them for dead (SIGSTOP), so partitions change hands all the time; the broker"
                        + " is killed and restarted on its data, connections to the database are cut in the middle of a commit. Then"
                        + " counts, in the business tables alone, which messages have no effect, more than one, or one out of order.",
        footer = {
            "",
            "Examples:",
            "  idem torture kafka                            three minutes",
            "  idem torture kafka --minutes 60 --seed 42     longer, and the same messages each time",
            "  idem torture kafka --minutes 1 --defect highest-offset   see it fail: a planted mistake"
        })
final class TortureKafkaCommand extends BrokerCampaignCommand {
    @Option(names = "--defect", paramLabel = "NAME", completionCandidates = Defects.class, description = PLANT)
    @Nullable
    String defect;

    TortureKafkaCommand() {
        super(Subject.KAFKA);
    }

    @Override
    @Nullable
    String defect() {
        return defect;
    }

    /** For the help. */
    static final class Defects extends Defect.Names {
        Defects() {
            super(Subject.KAFKA);
        }
    }
}
