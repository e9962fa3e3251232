package dev.idem.cli.schema;

import dev.idem.jdbc.schema.Finding;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Help.Ansi;

/** Prints findings for people: the problem, and below it what to do. */
final class Findings {
    private Findings() {}

    static boolean areHarmless(List<Finding> findings) {
        return findings.stream().noneMatch(finding -> finding.severity() == Finding.Severity.ERROR);
    }

    static void print(List<Finding> findings, PrintWriter out, String ifNone) {
        for (Finding finding : findings) {
            String colour = finding.severity() == Finding.Severity.ERROR ? "red" : "yellow";
            out.println(Ansi.AUTO.string("@|" + colour + " " + finding.severity() + "|@ ") + finding.check() + ": "
                    + finding.problem());
            out.println("  -> " + finding.action());
        }
        if (findings.isEmpty()) {
            out.println(ifNone);
        }
    }
}
