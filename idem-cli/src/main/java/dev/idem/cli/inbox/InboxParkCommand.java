package dev.idem.cli.inbox;

import dev.idem.jdbc.admin.InboxAction;
import picocli.CommandLine.Command;

/** {@code idem inbox park}: sets aside. */
@Command(
        name = "park",
        description =
                "Sets messages aside until a person decides; later ones of their ordering keys wait. A filter without "
                        + "--state means those that are received, failed retryable or held.",
        footer = {
            "",
            "Examples:",
            "  idem inbox park 17 --reason 'bad data' --url jdbc:postgresql://db/shop --user shop --password",
            "  idem inbox park --consumer mail --type refunded --all --dry-run --reason count --url jdbc:h2:file:./shop --json"
        })
final class InboxParkCommand extends InboxActionCommand {
    InboxParkCommand() {
        super(InboxAction.PARK);
    }
}
