package dev.idem.jdbc.internal.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A statement for many rows. What stands in braces is repeated for each row, with the row's own values, between commas, or
 * between ORs if the text in braces begins with one; a dialect that binds arrays needs no braces.
 */
public final class RowsSql {
    private static final Pattern REPEATED = Pattern.compile("(?<!\\$)\\{([^}]*)}");
    private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z]+)");

    private static final String OR = "OR ";

    private final String template;
    private final @Nullable NamedSql fixed;

    public RowsSql(String template) {
        this.template = template;
        this.fixed = REPEATED.matcher(template).find() ? null : new NamedSql(template);
    }

    /** Whether it takes any number of rows without being repeated. */
    public boolean bindsArrays() {
        return fixed != null;
    }

    public PreparedStatement prepare(
            Connection connection,
            Map<String, NamedSql.Parameter> common,
            Supplier<List<Map<String, NamedSql.Parameter>>> each)
            throws SQLException {
        if (fixed != null) {
            return fixed.prepare(connection, common);
        }
        List<Map<String, NamedSql.Parameter>> rows = each.get();
        Map<String, NamedSql.Parameter> values = new HashMap<>(common);
        Matcher repeated = REPEATED.matcher(template);
        repeated.find();
        boolean either = repeated.group(1).startsWith(OR);
        String row = either ? repeated.group(1).substring(OR.length()) : repeated.group(1);
        StringBuilder text = new StringBuilder(template.substring(0, repeated.start()));
        for (int i = 0; i < rows.size(); i++) {
            String suffix = letters(i);
            text.append(i == 0 ? "" : either ? " OR " : ", ")
                    .append(PARAMETER.matcher(row).replaceAll(":$1q" + suffix));
            rows.get(i).forEach((name, value) -> values.put(name + "q" + suffix, value));
        }
        text.append(template.substring(repeated.end()));
        common.forEach((name, value) -> rowless(values, name, value, rows.size()));
        return new NamedSql(text.toString()).prepare(connection, values);
    }

    /** Values that are the same for all rows may be used inside the braces too. */
    private static void rowless(
            Map<String, NamedSql.Parameter> values, String name, NamedSql.Parameter value, int rows) {
        for (int i = 0; i < rows; i++) {
            values.putIfAbsent(name + "q" + letters(i), value);
        }
    }

    /** Parameter names have only letters. */
    private static String letters(int number) {
        StringBuilder text = new StringBuilder();
        for (int rest = number; rest > 0 || text.length() == 0; rest /= 16) {
            text.append((char) ('a' + rest % 16));
        }
        return text.toString();
    }

    @Override
    public String toString() {
        return template;
    }
}
