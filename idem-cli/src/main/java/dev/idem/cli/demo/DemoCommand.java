package dev.idem.cli.demo;

import dev.idem.cli.CommonOptions;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code idem demo}: shows that effects happen once, and counts it in the business table. */
@Command(
        name = "demo",
        description = "Sends payments through a consumer that uses Idem and through one that is written by "
                + "hand, each in a JVM of its own. Messages come twice, late, out of order and again after "
                + "lost acknowledgements, and both consumers are killed (SIGKILL) in the middle of their "
                + "work. Then counts, in the business table alone, which orders were charged twice or "
                + "never.",
        footer = {
            "",
            "Examples:",
            "  idem demo                              about 20 s, needs no server",
            "  idem demo --store postgres --kills 20  on a PostgreSQL that it starts and removes",
            "  idem demo --mode queued                with a durable inbox: retries and parking",
            "  idem demo --broker kafka               with a Kafka that it starts and removes",
            "  idem demo --seed 42 --json | tail -1   the same faults again, for a machine",
            "  idem demo --sabotage                   see it fail: nobody uses Idem"
        })
public final class DemoCommand implements Callable<Integer> {
    private static final int MOST_MESSAGES = 1_000_000;
    private static final int MOST_KILLS = 1_000;

    @Mixin
    CommonOptions common = new CommonOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Option(names = "--messages", paramLabel = "N", description = "How many payments; default ${DEFAULT-VALUE}.")
    int messages = 3_000;

    @Option(
            names = "--duplicates",
            paramLabel = "PERCENT",
            description = "How many of them are published more than once; default ${DEFAULT-VALUE}.")
    int duplicates = 30;

    @Option(
            names = "--kills",
            paramLabel = "N",
            description = "How often each consumer is killed; default ${DEFAULT-VALUE}.")
    int kills = 5;

    @Option(names = "--seed", paramLabel = "N", description = "Repeats the faults of an earlier run; default random.")
    @Nullable
    Long seed;

    @Option(
            names = "--store",
            paramLabel = "STORE",
            description = "h2: in the memory of this process, or postgres: a server that it starts itself; default h2.")
    DemoStore.Kind store = DemoStore.Kind.H2;

    @Option(
            names = "--broker",
            paramLabel = "BROKER",
            description = {
                "memory: in this process; kafka or rabbitmq: a broker that it starts itself, with Idem's listener for it"
                        + " and a loop by hand; default memory."
            })
    DemoBroker.Kind broker = DemoBroker.Kind.MEMORY;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            description = {
                "When Idem acknowledges. inline: when the charge is committed;",
                "queued: when the message is stored; then some charges fail at first and are tried again, and one"
                        + " always fails and is parked; default inline."
            })
    DemoMode mode = DemoMode.INLINE;

    @Option(
            names = "--naive",
            paramLabel = "HOW",
            description = {
                "How the consumer by hand recognises duplicates:",
                "memory: a set of seen ids; select: looks into the business table first; none: not at all;"
                        + " default memory."
            })
    NaiveKind naive = NaiveKind.MEMORY;

    @Option(
            names = "--sabotage",
            description = "Let the consumer by hand take Idem's place too, to see that the demo can fail.")
    boolean sabotage;

    @Option(names = "--json", description = "Print the result as JSON, in the last line; the rest goes to stderr.")
    boolean json;

    /** The seats a user may put beside Idem. */
    enum NaiveKind {
        MEMORY,
        SELECT,
        NONE
    }

    @Override
    public Integer call() throws Exception {
        DemoSettings settings = settings();
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter text = json ? spec.commandLine().getErr() : out;
        text.printf(
                "%d payments, %d %% of them published more than once; %d kills of each consumer; store %s; broker %s;"
                        + " %s; seed %d%n",
                settings.messages(),
                settings.duplicates(),
                settings.kills(),
                settings.store().label(),
                settings.broker().label(),
                settings.mode().label(),
                settings.seed());
        text.flush();
        DemoReport report = new Demo(settings, text, !json && Progress.isTerminal()).run();
        text.println();
        text.print(DemoTable.of(report));
        text.flush();
        if (json) {
            out.println(Json.line(report));
            out.flush();
        }
        return report.idem().isExact() ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
    }

    DemoSettings settings() {
        check("--messages", messages, 1, MOST_MESSAGES);
        check("--duplicates", duplicates, 0, 100);
        check("--kills", kills, 0, Math.min(messages, MOST_KILLS));
        if (mode == DemoMode.QUEUED && broker != DemoBroker.Kind.MEMORY) {
            throw new ParameterException(
                    spec.commandLine(), "--mode queued is told with the broker in memory only; leave out --broker");
        }
        long chosen = seed == null ? ThreadLocalRandom.current().nextInt(1, 1_000_000_000) : seed;
        SeatKind beside = SeatKind.valueOf(naive.name());
        return new DemoSettings(
                messages, duplicates, kills, chosen, store, broker, mode, beside, sabotage, common.verbose());
    }

    private void check(String option, int value, int least, int most) {
        if (value < least || value > most) {
            throw new ParameterException(
                    spec.commandLine(), option + " is " + value + ", but must be between " + least + " and " + most);
        }
    }
}
