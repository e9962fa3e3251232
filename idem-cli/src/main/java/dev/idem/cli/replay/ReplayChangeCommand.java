package dev.idem.cli.replay;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.ReplaySession;
import dev.idem.cli.CommonOptions;
import dev.idem.cli.ConnectionOptions;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.TableOptions;
import dev.idem.jdbc.JdbcReplays;
import dev.idem.jdbc.ReplayOperator;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What pause, resume and abort have in common. */
@Command
abstract class ReplayChangeCommand implements Callable<Integer> {
    @Mixin
    CommonOptions common = new CommonOptions();

    @Mixin
    ConnectionOptions connection = new ConnectionOptions();

    @Mixin
    TableOptions tables = new TableOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Parameters(index = "0", paramLabel = "NAME", description = "Which session.")
    String name = "";

    @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Why; goes to the audit.")
    String reason = "";

    @Option(
            names = {"--by", "--actor"},
            paramLabel = "NAME",
            description = "Who; goes to the audit. Default the user of this system.")
    @Nullable
    String actor = System.getProperty("user.name");

    @Option(names = "--json", description = "Print the session as one JSON object.")
    boolean json;

    abstract ReplaySession change(ReplayOperator operator);

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            ReplaySession session = change(operator(JdbcReplays.of(tables.in(dataSource))));
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
        try {
            return replays.as(actor == null ? "" : actor, reason);
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(spec.commandLine(), "--by or --reason: " + wrong.getMessage(), wrong);
        }
    }
}
