package dev.idem.cli.replay;

import dev.idem.jdbc.admin.ReplayOperator;
import dev.idem.replay.ReplaySession;
import picocli.CommandLine.Command;

/** {@code idem replay resume}. */
@Command(
        name = "resume",
        description = "Goes on with a session where it was paused, or failed.",
        footer = {
            "",
            "Examples:",
            "  idem replay resume totals-1 --reason 'load at noon' --url jdbc:postgresql://db/shop --user shop --password",
            "  idem replay resume totals-1 --reason 'load at noon' --by anna --json --url jdbc:h2:file:./shop"
        })
final class ReplayResumeCommand extends ReplayChangeCommand {
    @Override
    ReplaySession change(ReplayOperator operator) {
        return operator.resume(name);
    }
}
