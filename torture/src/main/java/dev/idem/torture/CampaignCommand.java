package dev.idem.torture;

import dev.idem.cli.CommonOptions;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What the commands of all campaigns have in common. */
abstract class CampaignCommand implements Callable<Integer> {
    /** The description of the option {@code --defect}, whose values differ. */
    static final String PLANT = "Plant a mistake, to see that the campaign finds it: ${COMPLETION-CANDIDATES}.";

    private static final double LEAST_MINUTES = 0.05;
    private static final double MOST_MINUTES = 10_000;
    private static final int MESSAGES_PER_MINUTE = 20_000;
    private static final int MOST_MESSAGES = 50_000_000;
    private static final int KILLS_PER_MINUTE = 22;
    private static final double SERVER_KILLS_PER_MINUTE = 2.4;
    private static final int MOST_KILLS = 1_000_000;

    private final Subject subject;

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

    @Option(names = "--json", description = "Print the result as JSON, in the last line; the rest goes to stderr.")
    boolean json;

    CampaignCommand(Subject subject) {
        this.subject = subject;
    }

    /** How many workers are to be killed, if that was said. */
    abstract @Nullable Integer kills();

    /** How often the server is to be killed, if that was said. */
    abstract @Nullable Integer serverKills();

    /** The name of the mistake to plant, if there is one. */
    abstract @Nullable String defect();

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
        Report report = new Torture(settings, text).run();
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
        int count = chosen(messages, MESSAGES_PER_MINUTE, MOST_MESSAGES);
        int kills = chosen(kills(), KILLS_PER_MINUTE, MOST_KILLS);
        int serverKills = chosen(serverKills(), SERVER_KILLS_PER_MINUTE, MOST_KILLS);
        check("--messages", count, 1, MOST_MESSAGES);
        check("--workers", workers, 1, 10);
        check(subject.killsOption(), kills, 1, MOST_KILLS);
        check(subject.serverKillsOption(), serverKills, 1, MOST_KILLS);
        long chosen = seed == null ? ThreadLocalRandom.current().nextInt(1, 1_000_000_000) : seed;
        Duration length = Duration.ofMillis((long) (minutes * 60_000));
        return new TortureSettings(subject, length, chosen, count, workers, kills, serverKills, planted(defect()));
    }

    private int chosen(@Nullable Integer said, double perMinute, int most) {
        return said != null ? said : (int) Math.max(1, Math.min(most, Math.floor(perMinute * minutes)));
    }

    private Defect planted(@Nullable String name) {
        if (name == null) {
            return Defect.NONE;
        }
        for (Defect one : Defect.of(subject)) {
            if (one.label().equals(name)) {
                return one;
            }
        }
        throw new ParameterException(
                spec.commandLine(),
                "--defect is " + name + ", but must be one of " + String.join(", ", Defect.labels(subject)));
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
