package dev.idem.jdbc.internal.guard;

import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Refuses statements that would end the transaction behind our back, by their first words. It does not parse SQL: what
 * hides in a procedure or behind a semicolon is caught by the confirm before the commit.
 */
public final class SqlText {
    private static final Pattern FIRST_WORDS = Pattern.compile("([A-Za-z]+)(?:\\s+([A-Za-z]+))?");
    private static final Pattern BACK_TO_SAVEPOINT =
            Pattern.compile("(?i)rollback\\s+(work\\s+|transaction\\s+)?to\\b");
    private static final Pattern AUTOCOMMIT = Pattern.compile("(?i)\\bautocommit\\b");

    /**
     * Handlers repeat their statements, so what was found out is remembered, of so many texts of at most so many characters:
     * 2 MB at most. A handler that builds long texts, or texts without end, has each of them looked at.
     */
    private static final int REMEMBERED = 500;

    private static final int LONGEST = 2_000;

    private final Set<String> committing;
    /** The texts that are not refused, and whether they are surely one statement. */
    private final Map<String, Boolean> harmless = new ConcurrentHashMap<>();

    public SqlText(Set<String> committing) {
        this.committing = committing;
    }

    /**
     * True when the text is surely a single statement. On a database whose procedures cannot end the transaction of their
     * caller, such a text cannot either.
     */
    boolean refuseCommitting(String sql) throws SQLException {
        boolean remembered = sql.length() <= LONGEST;
        Boolean known = remembered ? harmless.get(sql) : null;
        if (known != null) {
            return known;
        }
        check(sql);
        boolean single = isSingle(sql);
        if (remembered && harmless.size() < REMEMBERED) {
            harmless.put(sql, single);
        }
        return single;
    }

    /** Nothing but space behind the first semicolon, wherever that is, and no comment that could have another one in it. */
    private static boolean isSingle(String sql) {
        int semicolon = sql.indexOf(';');
        return (semicolon < 0 || sql.substring(semicolon + 1).isBlank()) && sql.indexOf("/*") == sql.lastIndexOf("/*");
    }

    private void check(String sql) throws SQLException {
        int start = afterComments(sql);
        Matcher words = FIRST_WORDS.matcher(sql).region(start, sql.length());
        if (!words.lookingAt()) {
            return;
        }
        String first = upper(words.group(1));
        String both = first + " " + upper(words.group(2));
        if (refused(first, both, sql) && !harmless(both, sql, start)) {
            throw Guard.refused(
                    first + " as SQL text",
                    "It would end the transaction in which the message is marked as done; Idem commits after the handler");
        }
    }

    private boolean refused(String first, String both, String sql) {
        return committing.contains(first)
                || committing.contains(both)
                // One SET may assign several variables.
                || (first.equals("SET")
                        && committing.contains("SET AUTOCOMMIT")
                        && AUTOCOMMIT.matcher(sql).find());
    }

    private boolean harmless(String both, String sql, int start) {
        return BACK_TO_SAVEPOINT.matcher(sql).region(start, sql.length()).lookingAt()
                || (both.endsWith(" TEMPORARY") && !committing.contains(both))
                || both.equals("BEGIN NOT");
    }

    /** A loop, because a pattern that repeats a group overflows the stack on a long text. */
    private static int afterComments(String sql) {
        int at = 0;
        while (at < sql.length()) {
            char c = sql.charAt(at);
            if (Character.isWhitespace(c) || c == ';') {
                at++;
            } else if (sql.startsWith("--", at) || sql.startsWith("//", at) || c == '#') {
                at = behind(sql, "\n", at);
            } else if (sql.startsWith("/*!", at) || sql.startsWith("/*M!", at)) {
                at = behind(sql, "!", at); // MariaDB runs what stands in such a comment
            } else if (sql.startsWith("/*", at)) {
                at = behind(sql, "*/", at + 2);
            } else {
                return at;
            }
        }
        return at;
    }

    private static int behind(String sql, String mark, int from) {
        int found = sql.indexOf(mark, from);
        return found < 0 ? sql.length() : found + mark.length();
    }

    private static String upper(@Nullable String word) {
        return word == null ? "" : word.toUpperCase(Locale.ROOT);
    }
}
