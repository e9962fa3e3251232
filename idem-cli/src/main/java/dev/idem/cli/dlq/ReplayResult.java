package dev.idem.cli.dlq;

import dev.idem.broker.LetterReplay;
import dev.idem.cli.Printable;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a replay did, for machines; and its lines for people. */
record ReplayResult(
        boolean dryRun,
        long seen,
        long sent,
        long forbidden,
        long failed,
        Map<String, Long> perConsumer,
        Map<String, Long> perOrigin,
        Map<String, Long> notAllowed,
        List<LetterReplay.Report.Failure> failures) {
    private static final int SHORT = 400;

    ReplayResult(boolean dryRun, LetterReplay.Report report) {
        this(
                dryRun,
                report.seen(),
                report.sent(),
                report.forbidden(),
                report.failed(),
                report.perConsumer(),
                report.perOrigin(),
                report.notAllowed(),
                report.failures());
    }

    static void print(PrintWriter out, boolean dryRun, LetterReplay.Report report) {
        long left =
                report.notAllowed().values().stream().mapToLong(Long::longValue).sum();
        out.printf(
                "%,d looked at, %,d %s, %,d forbidden, %,d from origins that are not allowed, %,d failed%n",
                report.seen(),
                report.sent(),
                dryRun ? "would be sent" : "sent",
                report.forbidden(),
                left,
                report.failed());
        new TreeMap<>(report.perOrigin()).forEach((origin, n) -> out.printf("  to %s: %,d%n", name(origin), n));
        new TreeMap<>(report.notAllowed())
                .forEach((origin, n) -> out.printf("  not to %s: %,d, left where they are%n", name(origin), n));
        report.failures()
                .forEach(failure -> out.printf(
                        "  failed: %s to %s: %s%n",
                        Printable.line(failure.place()), name(failure.origin()), Printable.line(failure.why(), SHORT)));
        if (report.failed() > report.failures().size()) {
            out.printf(
                    "  failed: %,d more%n", report.failed() - report.failures().size());
        }
        if (left > 0) {
            out.println("Name an origin with --to, if its letters are to be sent there");
        }
        if (report.forbidden() > 0) {
            out.println("The policy of their consumer forbids replays; a person may insist with --force and a reason");
        }
    }

    /** The name of an origin as a letter tells it. */
    private static String name(String origin) {
        return origin.isEmpty() ? "(nowhere: the letter does not say)" : Printable.line(origin, SHORT);
    }
}
