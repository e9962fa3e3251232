package dev.idem.torture;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code idem torture inbox}: kills and pauses everything around the durable inbox, and counts effects. */
@Command(
        name = "inbox",
        description =
                "Sends messages through queued consumers of every kind (in one transaction, leased, with and without"
                        + " order, in steps with calls to a provider) in a pool of JVMs on a PostgreSQL that it starts and removes. More than 30 %% of the deliveries are"
                        + " duplicates. Workers are killed (SIGKILL) and paused longer than their leases (SIGSTOP), the database"
                        + " is killed and restarted, its clock jumps, connections are cut in the middle of a commit, messages are"
                        + " stored late. Some handlers fail at first, some always; some hang and ignore interrupts, throw"
                        + " Errors or leave interrupts behind; large messages wait, and code changes while messages are half done;"
                        + " the provider's answer is lost at times, and a person asks for it. Then counts, in the business tables alone, which messages have no effect, more than one,"
                        + " or one out of order, and which calls were made twice.",
        footer = {
            "",
            "Examples:",
            "  idem torture inbox                            three minutes",
            "  idem torture inbox --minutes 60 --seed 42     longer, and the same faults each time",
            "  idem torture inbox --minutes 1 --defect no-fence   see it fail: a planted mistake"
        })
final class TortureInboxCommand extends CampaignCommand {
    @Option(
            names = "--jvm-kills",
            paramLabel = "N",
            description = "Go on until so many workers were killed; default 22 for each minute.")
    @Nullable
    Integer jvmKills;

    @Option(
            names = "--database-kills",
            paramLabel = "N",
            description = "Kill the database so often; default 2.4 for each minute.")
    @Nullable
    Integer databaseKills;

    @Option(names = "--defect", paramLabel = "NAME", completionCandidates = Defects.class, description = PLANT)
    @Nullable
    String defect;

    TortureInboxCommand() {
        super(Subject.INBOX);
    }

    @Override
    @Nullable
    Integer kills() {
        return jvmKills;
    }

    @Override
    @Nullable
    Integer serverKills() {
        return databaseKills;
    }

    @Override
    @Nullable
    String defect() {
        return defect;
    }

    /** For the help. */
    static final class Defects extends Defect.Names {
        Defects() {
            super(Subject.INBOX);
        }
    }
}
