package dev.idem.cli.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import picocli.CommandLine.Help.Ansi;

/** The report for people. */
final class DemoTable {
    private static final String ROW = "  %-22s %14s %14s%n";

    private final DemoReport report;
    private final StringBuilder text = new StringBuilder();

    private DemoTable(DemoReport report) {
        this.report = report;
    }

    static String of(DemoReport report) {
        return new DemoTable(report).build();
    }

    private String build() {
        text.append(Ansi.AUTO.string("@|bold " + String.format(ROW, "", "Idem", "by hand") + "|@"));
        row("messages", seat -> number(report.messages()));
        row("deliveries", seat -> number(seat.deliveries()));
        row("duplicates skipped", seat -> number(seat.duplicatesSkipped()));
        row("kills survived", seat -> number(seat.kills()));
        if (report.isQueued()) {
            row("failed, tried again", seat -> number(seat.failures()));
            row("parked for a person", seat -> number(seat.parked()));
            row("dead-lettered", seat -> number(seat.deadLettered()));
        }
        verdict("double charges", seat -> seat.doubled() > 0, seat -> number(seat.doubled()));
        verdict("charged too much", seat -> seat.doubled() > 0, DemoReport.Seat::overcharged);
        verdict("lost charges", seat -> seat.lost() > 0, seat -> number(seat.lost()));
        text.append(System.lineSeparator()).append(conclusion()).append(System.lineSeparator());
        next().forEach(line -> text.append(line).append(System.lineSeparator()));
        return text.toString();
    }

    /** What to try next: what was not shown yet. */
    private List<String> next() {
        List<String> lines = new ArrayList<>(List.of("", "What to try next:"));
        if (!report.isQueued()) {
            lines.add("  ./idem demo --mode queued     store first, then retry and park what fails");
        }
        if (report.broker().equals(DemoBroker.Kind.MEMORY.label())) {
            lines.add("  ./idem demo --broker kafka    the same behind a Kafka that it starts and removes");
        }
        lines.add("  ./idem demo --sabotage        see it fail: nobody uses Idem");
        lines.add("  docs/guide.md                 a consumer of your own, from nothing to production");
        return lines;
    }

    private String conclusion() {
        DemoReport.Seat idem = report.idem();
        if (!idem.isExact()) {
            return Ansi.AUTO.string("@|bold,red FAILED: behind Idem, " + idem.doubled()
                    + " orders were charged twice and " + idem.lost() + " never.|@");
        }
        String result = Ansi.AUTO.string("@|bold,green Behind Idem every order was charged exactly once.|@");
        if (report.isQueued()) {
            result = result.replace("every order was", "every order but the parked one was");
        }
        return report.naive().isExact() ? result + " This time the consumer by hand was lucky." : result;
    }

    private void row(String label, Function<DemoReport.Seat, String> value) {
        text.append(String.format(ROW, label, value.apply(report.idem()), value.apply(report.naive())));
    }

    private void verdict(
            String label, Function<DemoReport.Seat, Boolean> bad, Function<DemoReport.Seat, String> value) {
        text.append(String.format(
                "  %-22s %s %s%n", label, cell(report.idem(), bad, value), cell(report.naive(), bad, value)));
    }

    /** Padded before it is coloured, because the invisible characters would count. */
    private static String cell(
            DemoReport.Seat seat, Function<DemoReport.Seat, Boolean> bad, Function<DemoReport.Seat, String> value) {
        String padded = String.format("%14s", value.apply(seat));
        return Ansi.AUTO.string("@|" + (bad.apply(seat) ? "red" : "green") + " " + padded + "|@");
    }

    private static String number(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
