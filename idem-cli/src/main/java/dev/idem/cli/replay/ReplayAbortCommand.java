package dev.idem.cli.replay;

import dev.idem.jdbc.admin.ReplayOperator;
import dev.idem.replay.ReplaySession;
import picocli.CommandLine.Command;

/** {@code idem replay abort}. */
@Command(
        name = "abort",
        description =
                "Gives a session up for good. What was handled stays done; what of it still waits in a queue is suppressed.",
        footer = {
            "",
            "Examples:",
            "  idem replay abort totals-1 --reason 'load at noon' --url jdbc:postgresql://db/shop --user shop --password",
            "  idem replay abort totals-1 --reason 'load at noon' --by anna --json --url jdbc:h2:file:./shop"
        })
final class ReplayAbortCommand extends ReplayChangeCommand {
    @Override
    ReplaySession change(ReplayOperator operator) {
        return operator.abort(name);
    }
}
