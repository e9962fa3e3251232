package dev.idem.bench.report;

import java.util.Locale;

/** Figures as people read them: no more digits than the measurement has. */
final class Numbers {
    private Numbers() {}

    static String ratio(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.1f", value);
    }

    static String rate(double perSecond) {
        return String.format(Locale.ROOT, "%,.0f", perSecond);
    }
}
