package dev.idem.jdbc;

import java.sql.SQLException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Refuses statements that would end the transaction behind our back, by their first words. It does not parse SQL: what
 * hides in a procedure or behind a semicolon is caught by the confirm before the commit.
 */
final class SqlText {
    private static final Pattern FIRST_WORDS =
            Pattern.compile("(?s)(?:\\s++|;|--[^\\n]*+\\n|/\\*.*?\\*/)*+([A-Za-z]+)(?:\\s+([A-Za-z]+))?.*");
    private static final Pattern BACK_TO_SAVEPOINT =
            Pattern.compile("(?is).*?\\brollback\\s+(work\\s+|transaction\\s+)?to\\b.*");

    private final Set<String> committing;

    SqlText(Set<String> committing) {
        this.committing = committing;
    }

    void refuseCommitting(String sql) throws SQLException {
        Matcher words = FIRST_WORDS.matcher(sql);
        if (!words.matches()) {
            return;
        }
        String first = upper(words.group(1));
        String second = upper(words.group(2));
        boolean refused = committing.contains(first) || committing.contains(first + " " + second);
        boolean harmless =
                (first.equals("ROLLBACK") && BACK_TO_SAVEPOINT.matcher(sql).matches())
                        || second.equals("TEMPORARY")
                        || (first.equals("BEGIN") && second.equals("NOT"));
        if (refused && !harmless) {
            throw Guard.refused(
                    first + " as SQL text",
                    "It would end the transaction in which the message is marked as done; Idem commits after the handler");
        }
    }

    private static String upper(@Nullable String word) {
        return word == null ? "" : word.toUpperCase(Locale.ROOT);
    }
}
