package dev.idem.cli.replay;

import dev.idem.jdbc.admin.ReplayOperator;
import dev.idem.replay.ReplaySession;
import picocli.CommandLine.Command;

/** {@code idem replay pause}. */
@Command(
        name = "pause",
        description =
                "Stops sending the messages of a session, within a second or so; what is being handled is finished.",
        footer = {
            "",
            "Examples:",
            "  idem replay pause totals-1 --reason 'load at noon' --url jdbc:postgresql://db/shop --user shop --password",
            "  idem replay pause totals-1 --reason 'load at noon' --by anna --json --url jdbc:h2:file:./shop"
        })
final class ReplayPauseCommand extends ReplayChangeCommand {
    @Override
    ReplaySession change(ReplayOperator operator) {
        return operator.pause(name);
    }
}
