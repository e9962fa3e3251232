package dev.idem.jdbc.internal.sql;

import java.util.regex.Pattern;

/**
 * A name that goes into SQL text: lower-case letters, digits and underscores, not starting with a digit, at most 30
 * characters. Everything else is refused, so no configured name can carry SQL.
 */
public record Identifier(String name) {
    private static final Pattern GRAMMAR = Pattern.compile("[a-z_][a-z0-9_]{0,29}");

    public Identifier {
        if (!GRAMMAR.matcher(name).matches()) {
            throw new IllegalArgumentException("A table prefix or schema must be 1 to 30 lower-case letters, digits or"
                    + " underscores and not start with a digit; this has " + name.length() + " characters and is not");
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
