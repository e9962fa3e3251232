package dev.idem.cli.replay;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.PersonOptions;
import dev.idem.cli.UnknownConsumer;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.admin.ReplayOperator;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySpec;
import java.io.PrintWriter;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code idem replay start}: asks for a session. */
@Command(
        name = "start",
        description =
                "Asks for a replay session. An executor in the consumer's service takes it within seconds. A dry run is "
                        + "waited for, and its counts are printed.",
        footer = {
            "",
            "Sources: stored[:from=TIME;to=TIME], dead-letters:from=TOPIC-OR-QUEUE[;reason=…;error=…],",
            "  kafka:topic=NAME[;partitions=0,1][;from=OFFSET-OR-TIME][;to=OFFSET-OR-TIME]",
            "",
            "Examples:",
            "  idem replay start --name totals-1 --consumer totals --source stored --reason 'wrong sums' --rate 500 --url jdbc:postgresql://db/shop",
            "  idem replay start --name count-1 --consumer totals --source 'kafka:topic=orders;from=2026-03-01T00:00:00Z' --dry-run --reason count --url jdbc:h2:file:./shop"
        })
final class ReplayStartCommand extends DatabaseCommand {
    private static final Duration TAKEN_SOON = Duration.ofSeconds(5);

    @Option(
            names = "--name",
            required = true,
            paramLabel = "NAME",
            description = "The session's name, given once and never again.")
    String name = "";

    @Option(names = "--consumer", required = true, paramLabel = "NAME", description = "Who gets the messages again.")
    String consumer = "";

    @Option(names = "--source", required = true, paramLabel = "SPEC", description = "Where they come from; see below.")
    String source = "";

    @Mixin
    PersonOptions person = new PersonOptions();

    @Option(names = "--rate", paramLabel = "N", description = "Messages a second at most; default ${DEFAULT-VALUE}.")
    long rate = 100;

    @Option(names = "--dry-run", description = "Only count what would happen.")
    boolean dryRun;

    @Option(
            names = "--restart-half-done",
            description = "What has done some of its steps begins again: if what these have written is emptied.")
    boolean restartHalfDone;

    @Option(
            names = "--wait",
            paramLabel = "SECONDS",
            description = "How long to wait for the result of a dry run; default ${DEFAULT-VALUE}.")
    long wait = 60;

    @Option(names = "--json", description = "Print the session as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            JdbcSchema schema = tables.in(dataSource);
            if (UnknownConsumer.refused(consumer, schema, spec.commandLine())) {
                return ExitCodes.CHECK_FAILED;
            }
            JdbcReplays replays = JdbcReplays.of(schema);
            ReplaySession session = started(replays);
            session = awaited(replays, session);
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(Json.line(SessionLine.of(session)));
            } else {
                SessionLine.text(out, session);
            }
            out.flush();
            boolean counted = !dryRun || session.state() == ReplaySession.State.DONE;
            return session.state() != ReplaySession.State.FAILED && counted ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
        }
    }

    private ReplaySession started(JdbcReplays replays) {
        try {
            ReplayOperator operator = person.as(replays::as).perSecond(rate);
            ReplayOperator meant = restartHalfDone ? operator.restartingHalfDone() : operator;
            return (dryRun ? meant.dryRun() : meant).start(name, consumer, ReplaySpec.parse(source));
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /** Until somebody has taken it; a dry run until it has ended. */
    private ReplaySession awaited(JdbcReplays replays, ReplaySession session) throws InterruptedException {
        long start = System.nanoTime();
        boolean hinted = false;
        ReplaySession now = session;
        while (!isEnough(now)) {
            Duration waited = Duration.ofNanos(System.nanoTime() - start);
            if (now.state() == ReplaySession.State.REQUESTED && !hinted && waited.compareTo(TAKEN_SOON) > 0) {
                hinted = true;
                PrintWriter err = spec.commandLine().getErr();
                err.println("Nobody has taken the session yet. Does a service with consumer " + session.consumer()
                        + " run a Replayer on this database? It stays requested until one does.");
                err.flush();
            }
            boolean over = dryRun ? waited.toSeconds() >= wait : hinted;
            if (over) {
                return now;
            }
            Thread.sleep(100);
            now = replays.status(name).orElse(now);
        }
        return now;
    }

    private boolean isEnough(ReplaySession session) {
        return dryRun
                ? session.state().isFinal() || session.state() == ReplaySession.State.FAILED
                : session.state() != ReplaySession.State.REQUESTED;
    }
}
