package dev.idem.torture;

import java.util.Locale;
import picocli.CommandLine.Help.Ansi;

/** The report for people. */
final class TortureTable {
    private final StringBuilder text = new StringBuilder();

    private TortureTable() {}

    static String of(Report report) {
        return new TortureTable().build(report);
    }

    private String build(Report report) {
        report.rows().forEach(this::row);
        String verdict = report.isFlawless() ? "@|bold,green " + report.promise() + "|@" : "@|bold,red FAILED.|@";
        text.append(System.lineSeparator()).append(Ansi.AUTO.string(verdict));
        text.append(" The same again: ").append(report.repeat()).append(System.lineSeparator());
        return text.toString();
    }

    private void row(String label, long value) {
        text.append(String.format(Locale.ROOT, "  %-26s %,12d%n", label, value));
    }
}
