package dev.idem.test;

import java.util.ArrayList;
import java.util.List;

/** Collects what is wrong with each scenario, and says it so that a person sees the pattern first. */
final class Verdicts {
    private static final int SHOWN = 10;

    private final List<Violation> violations = new ArrayList<>();
    private int scenarios;

    private record Violation(String scenario, List<String> lines) {}

    void add(String scenario, List<String> lines) {
        scenarios++;
        if (!lines.isEmpty()) {
            violations.add(new Violation(scenario, lines));
        }
    }

    /** On the standard output, because a person runs the test, who may have no logging set up for it. */
    @SuppressWarnings("SystemOut")
    void conclude() {
        if (!violations.isEmpty()) {
            throw new AssertionError(text());
        }
        System.out.println("Idempotent: " + scenarios + (scenarios == 1 ? " scenario ends" : " scenarios end")
                + " like one clean delivery");
    }

    private String text() {
        StringBuilder text = new StringBuilder("The handler is not idempotent: " + violations.size() + " of "
                + scenarios + " scenarios do not end like one clean delivery.\n");
        violations.stream().limit(SHOWN).forEach(violation -> {
            text.append("\n* ").append(violation.scenario()).append('\n');
            violation.lines().forEach(line -> text.append("    ").append(line).append('\n'));
        });
        if (violations.size() > SHOWN) {
            text.append("\nThe same or similar in:\n");
            violations.stream()
                    .skip(SHOWN)
                    .forEach(v -> text.append("* ").append(v.scenario()).append('\n'));
        }
        return text.append(hints()).toString();
    }

    private String hints() {
        StringBuilder hints = new StringBuilder();
        if (mentions("too many")) {
            hints.append("\nRows too many: something was written that a rollback does not undo. Write through"
                    + " tx.connection() or tx.dataSource(), and never through a connection of the handler's own.\n");
        }
        if (mentions("missing")) {
            hints.append(
                    "\nRows missing: a run that was undone left a trace somewhere else, in memory or in a cache, or"
                            + " an SQL error was swallowed. Let SQL errors pass, and keep no state between runs.\n");
        }
        return hints.toString();
    }

    private boolean mentions(String label) {
        return violations.stream()
                .flatMap(violation -> violation.lines().stream())
                .anyMatch(line -> line.startsWith("  " + label));
    }
}
