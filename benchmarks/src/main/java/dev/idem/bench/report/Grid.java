package dev.idem.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The contenders of one setting as lines, the references as columns, ratios first.
 *
 * @param title what was measured, under which setting
 */
record Grid(String title, List<String> header, List<List<String>> lines) {
    /** One grid for each setting, in the order of the rows. */
    static List<Grid> of(List<Row> rows) {
        Map<String, List<Row>> settings = new LinkedHashMap<>();
        for (Row row : rows) {
            settings.computeIfAbsent(row.name() + ": " + row.setting(), ignored -> new ArrayList<>())
                    .add(row);
        }
        List<Grid> grids = new ArrayList<>();
        settings.forEach((title, members) -> grids.add(grid(title, members)));
        return grids;
    }

    private static Grid grid(String title, List<Row> rows) {
        Map<String, Map<String, Row>> contenders = new LinkedHashMap<>();
        for (Row row : rows) {
            contenders
                    .computeIfAbsent(row.contender(), ignored -> new LinkedHashMap<>())
                    .put(row.reference(), row);
        }
        // A reference is not compared with itself, so its own line would put the columns out of order.
        Set<String> references = new LinkedHashSet<>(contenders.values().stream()
                .max(Comparator.comparingInt(Map::size))
                .orElseThrow()
                .keySet());
        rows.forEach(row -> references.add(row.reference()));
        List<String> header = new ArrayList<>(List.of("contender"));
        references.forEach(reference -> header.add("x " + reference));
        boolean latencies = rows.get(0).p50Micros() != null;
        header.addAll(latencies ? List.of("p50 ms", "p99 ms") : List.of("per second"));
        List<List<String>> lines = new ArrayList<>();
        contenders.forEach((contender, cells) -> lines.add(line(contender, references, cells)));
        return new Grid(title, header, lines);
    }

    private static List<String> line(String contender, Set<String> references, Map<String, Row> cells) {
        List<String> line = new ArrayList<>(List.of(contender));
        for (String reference : references) {
            Row row = cells.get(reference);
            line.add(row == null ? "" : cell(row));
        }
        Row any = cells.values().iterator().next();
        if (any.p50Micros() != null && any.p99Micros() != null) {
            line.add(Numbers.ratio(any.p50Micros() / 1e3));
            line.add(Numbers.ratio(any.p99Micros() / 1e3));
        } else {
            line.add(Numbers.rate(any.perSecond()));
        }
        return line;
    }

    private static String cell(Row row) {
        return Numbers.ratio(row.ratio()) + " (" + Numbers.ratio(row.low()) + "–" + Numbers.ratio(row.high()) + ")";
    }

    String text() {
        StringBuilder text = new StringBuilder(title).append('\n');
        append(text, header);
        lines.forEach(line -> append(text, line));
        return text.toString();
    }

    private void append(StringBuilder text, List<String> cells) {
        for (int i = 0; i < cells.size(); i++) {
            int width = width(i);
            text.append(String.format(i == 0 ? "  %-" + width + "s" : "  %" + width + "s", cells.get(i)));
        }
        text.append('\n');
    }

    private int width(int column) {
        int widest =
                lines.stream().mapToInt(line -> line.get(column).length()).max().orElse(1);
        return Math.max(widest, header.get(column).length());
    }

    String markdown() {
        StringBuilder text = new StringBuilder("**").append(title).append("**\n\n");
        text.append("| ").append(String.join(" | ", header)).append(" |\n");
        text.append("|---".repeat(header.size())).append("|\n");
        lines.forEach(line -> text.append("| ").append(String.join(" | ", line)).append(" |\n"));
        return text.toString();
    }
}
