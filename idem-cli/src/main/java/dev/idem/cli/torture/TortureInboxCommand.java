package dev.idem.cli.torture;

import dev.idem.cli.CommonOptions;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Iterator;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code idem torture inbox}: kills and pauses everything around the durable inbox, and counts effects. */
@Command(
        name = "inbox",
        description =
                "Sends messages through queued consumers of every kind (in one transaction, leased, with and without"
                        + " order) in a pool of JVMs on a PostgreSQL that it starts and removes. More than 30 % of the deliveries are"
                        + " duplicates. Workers are killed (SIGKILL) and paused longer than their leases (SIGSTOP), the database"
                        + " is killed and restarted, connections are cut in the middle of a commit. Some handlers fail at first,"
                        + " some always. Then counts, in the business tables alone, which messages have no effect, more than one,"
                        + " or one out of order.",
        footer = {
            "",
            "Examples:",
            "  idem torture inbox                            three minutes",
            "  idem torture inbox --minutes 60 --seed 42     longer, and the same faults each time",
            "  idem torture inbox --minutes 1 --defect no-fence   see it fail: a planted mistake"
        })
final class TortureInboxCommand implements Callable<Integer> {
    private static final double LEAST_MINUTES = 0.05;
    private static final double MOST_MINUTES = 10_000;
    private static final int MESSAGES_PER_MINUTE = 20_000;
    private static final int MOST_MESSAGES = 50_000_000;
    private static final int KILLS_PER_MINUTE = 22;
    private static final double DATABASE_KILLS_PER_MINUTE = 2.4;
    private static final int MOST_KILLS = 1_000_000;

    @Mixin
    CommonOptions common = new CommonOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            description = "How long it goes on, also 0.5; afterwards the rest is worked off; default ${DEFAULT-VALUE}.")
    double minutes = 3;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "Repeats the messages, duplicates, failures and blows of an earlier run; default random.")
    @Nullable
    Long seed;

    @Option(names = "--messages", paramLabel = "N", description = "How many messages; default 20000 for each minute.")
    @Nullable
    Integer messages;

    @Option(names = "--workers", paramLabel = "N", description = "How many worker JVMs; default ${DEFAULT-VALUE}.")
    int workers = 3;

    @Option(
            names = "--jvm-kills",
            paramLabel = "N",
            description = "Go on until so many workers were killed; default 22 for each minute.")
    @Nullable
    Integer jvmKills;

    @Option(
            names = "--database-kills",
            paramLabel = "N",
            description = "Kill the database so often; default 2.4 for each minute.")
    @Nullable
    Integer databaseKills;

    @Option(
            names = "--defect",
            paramLabel = "NAME",
            completionCandidates = Defects.class,
            description = "Plant a mistake, to see that the campaign finds it: ${COMPLETION-CANDIDATES}.")
    @Nullable
    String defect;

    @Option(names = "--json", description = "Print the result as JSON, in the last line; the rest goes to stderr.")
    boolean json;

    /** The names of the mistakes. */
    static final class Defects implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Defect.labels().iterator();
        }
    }

    @Override
    public Integer call() throws Exception {
        TortureSettings settings = settings();
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter text = json ? spec.commandLine().getErr() : out;
        text.printf(
                Locale.ROOT,
                "%d messages for %.2f minutes, %d workers, seed %d%s%n",
                settings.messages(),
                minutes,
                settings.workers(),
                settings.seed(),
                settings.isPlanted() ? ", with the defect " + settings.defect().label() : "");
        text.flush();
        TortureReport report = new Torture(settings, text).run();
        text.println();
        text.print(TortureTable.of(report));
        text.flush();
        if (json) {
            out.println(Json.line(report));
            out.flush();
        }
        return report.isFlawless() ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
    }

    TortureSettings settings() {
        check("--minutes", minutes, LEAST_MINUTES, MOST_MINUTES);
        int count = messages == null ? perMinute(MESSAGES_PER_MINUTE, MOST_MESSAGES) : messages;
        int kills = jvmKills == null ? perMinute(KILLS_PER_MINUTE, MOST_KILLS) : jvmKills;
        int restarts = databaseKills == null ? perMinute(DATABASE_KILLS_PER_MINUTE, MOST_KILLS) : databaseKills;
        check("--messages", count, 1, MOST_MESSAGES);
        check("--workers", workers, 1, 10);
        check("--jvm-kills", kills, 1, MOST_KILLS);
        check("--database-kills", restarts, 1, MOST_KILLS);
        long chosen = seed == null ? ThreadLocalRandom.current().nextInt(1, 1_000_000_000) : seed;
        return new TortureSettings(
                Duration.ofMillis((long) (minutes * 60_000)), chosen, count, workers, kills, restarts, chosenDefect());
    }

    private int perMinute(double number, int most) {
        return (int) Math.max(1, Math.min(most, Math.floor(number * minutes)));
    }

    private Defect chosenDefect() {
        if (defect == null) {
            return Defect.NONE;
        }
        for (Defect one : Defect.values()) {
            if (one != Defect.NONE && one.label().equals(defect)) {
                return one;
            }
        }
        throw new ParameterException(
                spec.commandLine(),
                "--defect is " + defect + ", but must be one of " + String.join(", ", Defect.labels()));
    }

    private void check(String option, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            throw new ParameterException(
                    spec.commandLine(),
                    option + " is " + text(value) + ", but must be between " + text(least) + " and " + text(most));
        }
    }

    private static String text(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }
}
