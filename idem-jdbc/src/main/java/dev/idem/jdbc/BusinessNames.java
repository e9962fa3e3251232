package dev.idem.jdbc;

import java.util.List;
import java.util.regex.Pattern;

/** Names of a user's own tables and columns: letters, digits and underscores only, so that none can carry SQL. */
final class BusinessNames {
    private static final Pattern COLUMN = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");
    private static final Pattern TABLE = Pattern.compile(COLUMN + "(\\." + COLUMN + ")?");

    private BusinessNames() {}

    static String table(String name) {
        return checked(TABLE, "table", name);
    }

    static String column(String name) {
        return checked(COLUMN, "column", name);
    }

    static List<String> columns(List<String> names) {
        return names.stream().map(BusinessNames::column).toList();
    }

    private static String checked(Pattern grammar, String what, String name) {
        if (!grammar.matcher(name).matches()) {
            throw new IllegalArgumentException("The name of a " + what
                    + " must be 1 to 63 letters, digits or underscores"
                    + " and not start with a digit, behind a schema and a dot at most; this has " + name.length()
                    + " characters and is not");
        }
        return name;
    }
}
