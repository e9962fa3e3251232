package dev.idem.bench.report;

import java.util.List;
import java.util.Locale;

/**
 * A ratio to reach, in every setting of its case.
 *
 * @param atLeast whether the bound is a lower one
 */
public record Target(String name, String contender, String reference, boolean atLeast, double bound) {
    public static Target atLeast(String name, String contender, double bound, String reference) {
        return new Target(name, contender, reference, true, bound);
    }

    public static Target atMost(String name, String contender, double bound, String reference) {
        return new Target(name, contender, reference, false, bound);
    }

    /** One line for each row that this target is about. */
    List<String> verdicts(List<Row> rows) {
        return rows.stream().filter(this::concerns).map(this::verdict).toList();
    }

    private boolean concerns(Row row) {
        return row.name().equals(name)
                && row.contender().equals(contender)
                && row.reference().equals(reference);
    }

    boolean isMet(Row row) {
        return atLeast ? row.ratio() >= bound : row.ratio() <= bound;
    }

    private String verdict(Row row) {
        String reached = String.format(
                Locale.ROOT,
                "%s %s %s x %s (%s; %s): %s, range %s to %s",
                contender,
                atLeast ? "≥" : "≤",
                Numbers.ratio(bound),
                reference,
                name,
                row.setting(),
                Numbers.ratio(row.ratio()),
                Numbers.ratio(row.low()),
                Numbers.ratio(row.high()));
        return isMet(row) ? "met     " + reached : "MISSED  " + reached + "; " + missedBy(row);
    }

    private String missedBy(Row row) {
        double percent = Math.abs(row.ratio() / bound - 1) * 100;
        return String.format(Locale.ROOT, "%.1f %% %s", percent, atLeast ? "short" : "above");
    }
}
