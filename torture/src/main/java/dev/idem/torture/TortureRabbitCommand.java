package dev.idem.torture;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code idem torture rabbitmq}: kills and pauses everything around the listener of RabbitMQ, and counts effects. */
@Command(
        name = "rabbitmq",
        description =
                "Sends messages through a RabbitMQ broker and a PostgreSQL, which it starts and removes, to consumer JVMs."
                        + " More than 30 %% of what is published are duplicates. Consumers are killed (SIGKILL) and paused until the"
                        + " broker takes them for dead (SIGSTOP), connections are closed by the broker, and cut to the database in the"
                        + " middle of a commit, the broker is killed and restarted on its data. Then counts, in the business tables"
                        + " alone, which messages have no effect, or more than one. With one worker the listener keeps the order of"
                        + " each key, and that is counted too.",
        footer = {
            "",
            "Examples:",
            "  idem torture rabbitmq                            three minutes",
            "  idem torture rabbitmq --minutes 60 --seed 42     longer, and the same messages each time",
            "  idem torture rabbitmq --minutes 1 --defect auto-ack   see it fail: a planted mistake"
        })
final class TortureRabbitCommand extends BrokerCampaignCommand {
    @Option(names = "--defect", paramLabel = "NAME", completionCandidates = Defects.class, description = PLANT)
    @Nullable
    String defect;

    TortureRabbitCommand() {
        super(Subject.RABBITMQ);
    }

    @Override
    @Nullable
    String defect() {
        return defect;
    }

    /** For the help. */
    static final class Defects extends Defect.Names {
        Defects() {
            super(Subject.RABBITMQ);
        }
    }
}
