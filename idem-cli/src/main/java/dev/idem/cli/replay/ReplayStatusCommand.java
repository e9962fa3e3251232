package dev.idem.cli.replay;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.replay.ReplaySession;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code idem replay status}: how sessions stand. */
@Command(
        name = "status",
        description = "Shows one replay session, or all of them, newest first.",
        footer = {
            "",
            "Examples:",
            "  idem replay status --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem replay status totals-1 --json --url jdbc:postgresql://db/shop --user shop --password"
        })
final class ReplayStatusCommand extends DatabaseCommand {
    @Parameters(index = "0", arity = "0..1", paramLabel = "NAME", description = "Which; default all.")
    @Nullable
    String name;

    @Option(names = "--json", description = "Print the answer as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            JdbcReplays replays = JdbcReplays.of(tables.in(dataSource));
            if (name == null) {
                return all(replays.list());
            }
            Optional<ReplaySession> session = replays.status(name);
            return session.isPresent()
                    ? one(session.get())
                    : SessionLine.unknown(spec.commandLine().getErr(), name, replays.list());
        }
    }

    private int one(ReplaySession session) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(Json.line(SessionLine.of(session)));
        } else {
            SessionLine.text(out, session);
        }
        out.flush();
        return ExitCodes.OK;
    }

    private int all(List<ReplaySession> sessions) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(
                    Json.line(new Result(sessions.stream().map(SessionLine::of).toList())));
        } else if (sessions.isEmpty()) {
            out.println("Nobody has asked for a replay yet.");
        } else {
            SessionLine.table(out, sessions);
        }
        out.flush();
        return ExitCodes.OK;
    }

    private record Result(List<SessionLine> sessions) {}
}
