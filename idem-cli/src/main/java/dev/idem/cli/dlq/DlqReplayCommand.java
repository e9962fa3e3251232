package dev.idem.cli.dlq;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.LetterFilter;
import dev.idem.broker.LetterReplay;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.PersonOptions;
import dev.idem.jdbc.admin.JdbcAudit;
import dev.idem.spi.Audit;
import java.io.PrintWriter;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code idem dlq replay}: sends dead letters again. */
@Command(
        name = "replay",
        description =
                "Sends dead letters to where they came from, with the same id, key, headers and payload. Each is taken "
                        + "away when the broker has confirmed the message. One that cannot be sent stays and is reported; "
                        + "the others are sent. May be interrupted, and run again. With a database of Idem's it is audited there, "
                        + "without one nowhere.",
        footer = {
            "",
            "Examples:",
            "  idem dlq replay --all --dry-run --reason 'provider is back' --kafka broker:9092 --topic orders.dead-letters"
                    + " --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem dlq replay 0-17 --reason 'customer called' --kafka broker:9092 --topic orders.dead-letters"
                    + " --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD"
        })
final class DlqReplayCommand extends DatabaseCommand {
    private static final long EVERY = 1_000;
    private static final String LETTERS = ".dead-letters";

    @Mixin
    BrokerOptions broker = new BrokerOptions();

    @Mixin
    LetterOptions letters = new LetterOptions();

    @Parameters(arity = "0..1", paramLabel = "PLACE", description = "One letter, by its place in 'idem dlq list'.")
    @Nullable
    String place;

    @Option(
            names = "--all",
            description = "All letters that the filter finds; must be said, so that nobody does it unawares.")
    boolean all;

    @Mixin
    PersonOptions person = new PersonOptions();

    @Option(
            names = "--to",
            paramLabel = "NAME",
            description =
                    "A topic or queue that letters may be sent to; may be repeated. Letters say themselves where they came"
                            + " from, and those from elsewhere are left and counted. Default NAME for letters in NAME.dead-letters;"
                            + " for others it must be said, and --dry-run shows where they came from.")
    List<String> origins = List.of();

    @Option(names = "--rate", paramLabel = "N", description = "How many each second at most; default ${DEFAULT-VALUE}.")
    long rate = 100;

    @Option(names = "--limit", paramLabel = "N", description = "How many in all; default all.")
    long limit = Long.MAX_VALUE;

    @Option(
            names = "--force",
            description = "Also those of consumers whose policy forbids replays. The reason justifies it in the audit.")
    boolean force;

    @Option(names = "--dry-run", description = "Only count what would be sent.")
    boolean dryRun;

    @Option(names = "--json", description = "Print the answer as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        LetterReplay replay = replay();
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        Thread hook = new Thread(() -> {
            interrupted.countDown();
            try {
                ended.await(10, TimeUnit.SECONDS); // for the letter that is on its way
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        });
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            return run(replay.until(() -> interrupted.getCount() == 0));
        } finally {
            ended.countDown();
            if (interrupted.getCount() > 0) {
                Runtime.getRuntime().removeShutdownHook(hook);
            }
        }
    }

    private LetterReplay replay() {
        if (place == null && !all) {
            throw new ParameterException(
                    spec.commandLine(), "Say which: the PLACE of a letter, or --all with a filter");
        }
        if (place != null && (all || !letters.isEmpty())) {
            throw new ParameterException(spec.commandLine(), "A PLACE and a filter do not go together");
        }
        if (rate < 1 || limit < 1) {
            throw new ParameterException(spec.commandLine(), "--rate and --limit must be at least 1");
        }
        LetterFilter meant =
                place == null ? letters.filter() : LetterFilter.all().place(place);
        LetterReplay replay = LetterReplay.of(meant).perSecond(rate).limit(limit);
        replay = force ? replay.force() : replay;
        Set<String> allowed = allowed();
        return allowed.isEmpty() ? replay : replay.to(allowed);
    }

    /** Where letters may go; empty is anywhere, which only a dry run may think of. */
    private Set<String> allowed() {
        if (!origins.isEmpty()) {
            return Set.copyOf(origins);
        }
        if (broker.destination.endsWith(LETTERS)) {
            return Set.of(broker.destination.substring(0, broker.destination.length() - LETTERS.length()));
        }
        if (!dryRun) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Say with --to which topics or queues letters may be sent to; --dry-run shows where they came from");
        }
        return Set.of();
    }

    private int run(LetterReplay replay) throws Exception {
        LetterReplay.Report report;
        if (connection.isGiven()) {
            try (HikariDataSource dataSource = connection.open();
                    DeadLetters open = broker.open(allowed())) {
                report = run(replay, open, JdbcAudit.of(tables.in(dataSource)));
            }
        } else {
            sayThatNothingIsAudited();
            try (DeadLetters open = broker.open(allowed())) {
                report = run(replay, open, (consumer, action, actor, reason, detail) -> {});
            }
        }
        return print(report);
    }

    private LetterReplay.Report run(LetterReplay replay, DeadLetters open, Audit audit) {
        return dryRun
                ? replay.dryRun(open)
                : person.as((who, why) -> replay.as(who, why, audit)).run(open, this::progress);
    }

    private void sayThatNothingIsAudited() {
        if (!dryRun) {
            PrintWriter err = spec.commandLine().getErr();
            err.println(
                    "No database was named (--url or IDEM_URL), so nothing of this is audited, and whether the consumers"
                            + " are there is not checked.");
            err.flush();
        }
    }

    private int print(LetterReplay.Report report) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(Json.line(new ReplayResult(dryRun, report)));
        } else {
            ReplayResult.print(out, dryRun, report);
        }
        out.flush();
        boolean done = report.forbidden() == 0 && report.failed() == 0 && (place == null || report.sent() == 1);
        return done ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
    }

    private void progress(LetterReplay.Report report) {
        if (!json && report.seen() % EVERY == 0) {
            PrintWriter err = spec.commandLine().getErr();
            err.printf("%,d looked at, %,d sent, %,d failed%n", report.seen(), report.sent(), report.failed());
            err.flush();
        }
    }
}
