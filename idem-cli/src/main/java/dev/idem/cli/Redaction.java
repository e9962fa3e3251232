package dev.idem.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Takes passwords out of texts. Drivers and clients quote the address they were given, and their errors end in terminals, CI logs
 * and tickets. Immutable and thread-safe.
 */
public final class Redaction {
    private static final String HIDDEN = "***";
    private static final String SECRET_NAME = "([\\w.-]*(?:password|passwd|pwd|secret|token)[\\w.-]*\\s*=\\s*)";

    /** A setting of a URL ends where the next begins; in a sentence also at a blank or quote. */
    private static final Pattern IN_URL = Pattern.compile(SECRET_NAME + "([^;&]*)", Pattern.CASE_INSENSITIVE);

    private static final Pattern IN_TEXT =
            Pattern.compile(SECRET_NAME + "([^;&\\s\"'\\])]*)", Pattern.CASE_INSENSITIVE);
    /** What is between the colon and the last @ of an authority; a password may contain an @ itself. */
    private static final Pattern USER_INFO = Pattern.compile("(://[^/?#:@\\s]*:)([^/\\s]*)(?=@)");
    /** The same in an address that is known to end with the text, where a password may contain anything. */
    private static final Pattern WHOLE_USER_INFO = Pattern.compile("(://[^/?#:@\\s]*:)(.*)@");
    /** Shorter ones are found in any text, and hiding them everywhere would make it unreadable. */
    private static final int SHORTEST = 4;

    /** How the options end whose value is the name of a variable, which is no secret. */
    private static final String VARIABLE = "password-env";

    private static final Redaction PATTERNS_ONLY = new Redaction(List.of());

    private final List<String> secrets;

    private Redaction(List<String> secrets) {
        this.secrets = secrets;
    }

    /** Hides what looks like a password in an address. */
    public static Redaction patterns() {
        return PATTERNS_ONLY;
    }

    /** Hides also the passwords that these arguments, the environment or the file give, wherever they are quoted. */
    static Redaction of(List<String> arguments) {
        List<String> found = new ArrayList<>();
        String config = null;
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            String option = i == 0 ? "" : arguments.get(i - 1);
            if (option.equals(Settings.OPTION)) {
                config = argument;
            } else if (argument.startsWith(Settings.OPTION + "=")) {
                config = argument.substring(Settings.OPTION.length() + 1);
            } else if (option.equals("--password")) {
                found.add(argument);
            } else if (option.endsWith(VARIABLE)) {
                found.add(Objects.requireNonNullElse(System.getenv(argument), ""));
            } else if (!argument.contains(VARIABLE)) {
                collect(IN_URL, argument, found);
                collect(WHOLE_USER_INFO, argument, found);
            }
        }
        for (String setting : Settings.secrets(config)) {
            boolean address = setting.startsWith("jdbc:");
            if (address) {
                collect(IN_URL, setting, found);
                collect(WHOLE_USER_INFO, setting, found);
            } else {
                found.add(setting);
            }
        }
        found.removeIf(secret -> secret.length() < SHORTEST);
        found.sort(Comparator.comparing(String::length).reversed()); // a part of another one must not hide it
        return new Redaction(List.copyOf(found));
    }

    private static void collect(Pattern pattern, String argument, List<String> found) {
        for (Matcher matcher = pattern.matcher(argument); matcher.find(); ) {
            found.add(matcher.group(2));
        }
    }

    /** The text with asterisks in the place of passwords. */
    public String apply(String text) {
        String safe = text;
        for (String secret : secrets) {
            safe = safe.replace(secret, HIDDEN);
        }
        safe = USER_INFO.matcher(safe).replaceAll("$1" + Matcher.quoteReplacement(HIDDEN));
        return IN_TEXT.matcher(safe).replaceAll("$1" + Matcher.quoteReplacement(HIDDEN));
    }
}
