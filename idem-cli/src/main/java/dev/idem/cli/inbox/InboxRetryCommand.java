package dev.idem.cli.inbox;

import dev.idem.jdbc.admin.InboxAction;
import dev.idem.jdbc.admin.InboxOperator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code idem inbox retry}: once more. */
@Command(
        name = "retry",
        description = "Tries messages again, now, with all their attempts before them. They keep their id, headers and "
                + "place: behind an earlier message of its ordering key one waits. A filter without --state means those "
                + "that are parked.",
        footer = {
            "",
            "Examples:",
            "  idem inbox retry 17 --reason 'provider is back' --url jdbc:postgresql://db/shop --user shop --password",
            "  idem inbox retry --consumer mail --with-reason EXHAUSTED --all --dry-run --reason count --url jdbc:h2:file:./shop --json"
        })
final class InboxRetryCommand extends InboxActionCommand {
    @Option(
            names = "--force",
            description = "Also those that were skipped in an ordered consumer: others of their keys have gone ahead.")
    boolean force;

    InboxRetryCommand() {
        super(InboxAction.RETRY);
    }

    @Override
    InboxOperator particular(InboxOperator operator) {
        return force ? operator.force() : operator;
    }
}
