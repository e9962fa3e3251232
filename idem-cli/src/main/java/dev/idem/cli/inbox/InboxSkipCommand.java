package dev.idem.cli.inbox;

import dev.idem.jdbc.admin.InboxAction;
import picocli.CommandLine.Command;

/** {@code idem inbox skip}: gives up. */
@Command(
        name = "skip",
        description =
                "Gives messages up: their effects will not happen, and later ones of their ordering keys go on. They are "
                        + "kept, and recognised as duplicates, until the end of the consumer's window. A filter without --state "
                        + "means those that are parked.",
        footer = {
            "",
            "Examples:",
            "  idem inbox skip 17 --reason 'done by hand' --url jdbc:postgresql://db/shop --user shop --password",
            "  idem inbox skip --consumer mail --older-than 30d --all --dry-run --reason count --url jdbc:h2:file:./shop --json"
        })
final class InboxSkipCommand extends InboxActionCommand {
    InboxSkipCommand() {
        super(InboxAction.SKIP);
    }
}
