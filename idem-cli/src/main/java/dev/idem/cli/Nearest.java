package dev.idem.cli;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Answers a name that is not there with those that are. */
public final class Nearest {
    private static final int SHOWN = 3;
    private static final int FEW = 6;
    private static final int SHORT = 60;

    private Nearest() {}

    /** A sentence with a space before it; empty when there are none. All of them where they are few, else the most alike. */
    public static String to(String wrong, Collection<String> there) {
        List<String> known = there.stream().distinct().sorted().toList();
        if (known.isEmpty()) {
            return "";
        }
        boolean few = known.size() <= FEW;
        String listed = known.stream()
                .sorted(few ? Comparator.naturalOrder() : Comparator.comparingInt(name -> distance(wrong, name)))
                .limit(few ? FEW : SHOWN)
                .map(name -> Printable.line(name, SHORT))
                .collect(Collectors.joining(", "));
        return (few ? " There are: " : " The nearest are: ") + listed + ".";
    }

    /** How many characters must be added, taken away or changed. */
    private static int distance(String one, String other) {
        String from = one.toLowerCase(Locale.ROOT);
        String to = other.toLowerCase(Locale.ROOT);
        int[] row = new int[to.length() + 1];
        for (int i = 0; i <= to.length(); i++) {
            row[i] = i;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int changed = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[to.length()];
    }
}
