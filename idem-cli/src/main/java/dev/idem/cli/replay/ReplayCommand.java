package dev.idem.cli.replay;

import dev.idem.cli.CommandGroup;
import picocli.CommandLine.Command;

/** {@code idem replay}: groups what concerns replay sessions. */
@Command(
        name = "replay",
        description =
                "Delivers messages to a consumer again, in a named and audited session: from stored messages, dead "
                        + "letters or a Kafka range. A Replayer in the consumer's service does it.",
        subcommands = {
            ReplayStartCommand.class,
            ReplayStatusCommand.class,
            ReplayPauseCommand.class,
            ReplayResumeCommand.class,
            ReplayAbortCommand.class
        },
        footer = {
            "",
            "Examples:",
            "  idem replay start --name totals-1 --consumer totals --source stored --dry-run --reason count --url jdbc:postgresql://db/shop",
            "  idem replay status totals-1 --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem replay pause totals-1 --reason 'too much load' --url jdbc:postgresql://db/shop --user shop --password"
        })
public final class ReplayCommand extends CommandGroup {}
