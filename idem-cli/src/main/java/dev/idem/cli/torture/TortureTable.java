package dev.idem.cli.torture;

import java.util.Locale;
import picocli.CommandLine.Help.Ansi;

/** The report for people. */
final class TortureTable {
    private final StringBuilder text = new StringBuilder();

    private TortureTable() {}

    static String of(TortureReport report) {
        return new TortureTable().build(report);
    }

    private String build(TortureReport report) {
        row("messages", report.messages());
        row("deliveries", report.deliveries());
        row("JVM kills", report.jvmKills());
        row("pauses beyond the lease", report.pauses());
        row("database kills", report.databaseKills());
        row("connections cut", report.cuts());
        row("parked, of " + report.parkedPlanned() + " planned", report.parked());
        row("held, of " + report.heldPlanned() + " planned", report.held());
        row("lost", report.lost());
        row("doubled", report.doubled());
        row("out of order", report.outOfOrder());
        if (report.unacknowledged() > 0) {
            row("never accepted", report.unacknowledged());
        }
        String verdict = report.isFlawless()
                ? "@|bold,green Every message has taken effect exactly once, and in order.|@"
                : "@|bold,red FAILED.|@";
        text.append(System.lineSeparator()).append(Ansi.AUTO.string(verdict));
        text.append(" The same again: ").append(report.repeat()).append(System.lineSeparator());
        return text.toString();
    }

    private void row(String label, long value) {
        text.append(String.format(Locale.ROOT, "  %-26s %,12d%n", label, value));
    }
}
