package dev.idem.bench.report;

import java.util.List;
import java.util.Locale;

/**
 * Bars with their range, as SVG. Written by hand, because a charting library measures its text with fonts that a headless
 * Java may not have.
 */
public final class Plot {
    private static final int LEFT = 300;
    private static final int BAR = 500;
    private static final int LINE = 22;
    private static final int TOP = 60;

    private final StringBuilder svg = new StringBuilder();
    private final List<Row> rows;
    private final double scale;

    private Plot(List<Row> rows) {
        this.rows = rows;
        double widest = rows.stream().mapToDouble(Row::high).max().orElse(1);
        this.scale = BAR / Math.max(1.1, widest);
    }

    /** One bar for each row, in their order, with a heading wherever the setting changes. */
    public static String svg(String title, List<Row> rows) {
        return new Plot(rows).draw(title);
    }

    private String draw(String title) {
        int y = TOP;
        String setting = "";
        for (Row row : rows) {
            String now = row.name() + ": " + row.setting();
            if (!now.equals(setting)) {
                setting = now;
                y += LINE;
                text(10, y, "bold", now);
                y += LINE;
            }
            bar(row, y);
            y += LINE;
        }
        int height = y + LINE;
        line(LEFT + scale, TOP, LEFT + scale, height - LINE, "#888888", "4 3");
        return String.format(Locale.ROOT, """
                <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">
                <rect width="100%%" height="100%%" fill="#ffffff"/>
                <text x="10" y="28" font-size="18">%s</text>
                <text x="10" y="48" fill="#555555">ratio, median of all rounds; the thin line is its range; dashed: 1</text>
                %s</svg>
                """, LEFT + BAR + 80, height, escaped(title), svg);
    }

    private void bar(Row row, int y) {
        text(30, y, "normal", row.contender() + " x " + row.reference());
        String colour = row.contender().startsWith("idem") ? "#1f6f8b" : "#b8c4cc";
        svg.append(String.format(
                Locale.ROOT,
                "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"%s\"/>%n",
                LEFT,
                y - 12,
                row.ratio() * scale,
                colour));
        line(LEFT + row.low() * scale, y - 5, LEFT + row.high() * scale, y - 5, "#333333", "none");
        text(LEFT + (int) (row.high() * scale) + 8, y, "normal", Numbers.ratio(row.ratio()));
    }

    private void line(double x1, int y1, double x2, int y2, String colour, String dashes) {
        svg.append(String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"%s\" stroke-dasharray=\"%s\"/>%n",
                x1,
                y1,
                x2,
                y2,
                colour,
                dashes));
    }

    private void text(int x, int y, String weight, String text) {
        svg.append(String.format(
                Locale.ROOT, "<text x=\"%d\" y=\"%d\" font-weight=\"%s\">%s</text>%n", x, y, weight, escaped(text)));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
