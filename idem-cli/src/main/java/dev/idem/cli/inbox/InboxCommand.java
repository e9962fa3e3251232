package dev.idem.cli.inbox;

import dev.idem.cli.CommandGroup;
import picocli.CommandLine.Command;

/** {@code idem inbox}: groups what concerns messages that were acknowledged on receipt. */
@Command(
        name = "inbox",
        description =
                "Looks after messages that are stored and not done yet: counts, lists and shows them, and retries, "
                        + "parks, skips, edits or erases them in the name of a person.",
        subcommands = {
            InboxStatsCommand.class,
            InboxListCommand.class,
            InboxGapsCommand.class,
            InboxShowCommand.class,
            InboxRetryCommand.class,
            InboxParkCommand.class,
            InboxSkipCommand.class,
            InboxEditCommand.class,
            InboxEraseCommand.class,
            InboxEffectCommand.class,
            InboxPassCommand.class
        },
        footer = {
            "",
            "Examples:",
            "  idem inbox stats --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem inbox list --state parked --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem inbox retry 17 --reason 'provider is back' --url jdbc:postgresql://db/shop --user shop --password"
        })
public final class InboxCommand extends CommandGroup {}
