package dev.idem.cli.replay;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.PersonOptions;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.admin.ReplayOperator;
import dev.idem.replay.ReplaySession;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What pause, resume and abort have in common. */
@Command
abstract class ReplayChangeCommand extends DatabaseCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "Which session.")
    String name = "";

    @Mixin
    PersonOptions person = new PersonOptions();

    @Option(names = "--json", description = "Print the session as one JSON object.")
    boolean json;

    abstract ReplaySession change(ReplayOperator operator);

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            JdbcReplays replays = JdbcReplays.of(tables.in(dataSource));
            if (replays.status(name).isEmpty()) {
                return SessionLine.unknown(spec.commandLine().getErr(), name, replays.list());
            }
            ReplaySession session = change(operator(replays));
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(Json.line(SessionLine.of(session)));
            } else {
                SessionLine.text(out, session);
            }
            out.flush();
            return ExitCodes.OK;
        }
    }

    private ReplayOperator operator(JdbcReplays replays) {
        return person.as(replays::as);
    }
}
