package dev.idem.broker;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The little JSON that stands in headers: a string, or Kafka Connect's {@code {"schema":…,"payload":…}} around a single value.
 * Stateless.
 */
final class JsonText {
    private static final int LONGEST = 10_000;

    /** As its JsonConverter writes it; the schema of a single value has no schema inside. */
    private static final Pattern CONNECT = Pattern.compile(
            "\\{\"schema\":\\{[^{}]*+\\},\"payload\":(\".*\"|[-+.0-9eE]+|true|false)\\}", Pattern.DOTALL);

    private JsonText() {}

    /** What the JSON says; empty if this is no such JSON, and also for numbers and the like, which say what they look like. */
    static Optional<String> said(String json) {
        if (json.length() > LONGEST) {
            return Optional.empty();
        }
        Matcher connect = CONNECT.matcher(json);
        if (connect.matches()) {
            String payload = connect.group(1);
            return payload.startsWith("\"") ? string(payload) : Optional.of(payload);
        }
        return string(json);
    }

    private static Optional<String> string(String json) {
        int last = json.length() - 1;
        if (last < 1 || json.charAt(0) != '"' || json.charAt(last) != '"') {
            return Optional.empty();
        }
        StringBuilder text = new StringBuilder(last);
        for (int i = 1; i < last; i++) {
            char c = json.charAt(i);
            if (c == '"' || c < ' ') {
                return Optional.empty();
            }
            if (c != '\\') {
                text.append(c);
                continue;
            }
            int escape = "\"\\/bfnrtu".indexOf(json.charAt(++i));
            if (i >= last || escape < 0) {
                return Optional.empty();
            }
            if (json.charAt(i) != 'u') {
                text.append("\"\\/\b\f\n\r\t".charAt(escape));
                continue;
            }
            int code = i + 4 < last ? hex(json, i + 1) : -1;
            if (code < 0) {
                return Optional.empty();
            }
            text.append((char) code);
            i += 4;
        }
        return Optional.of(text.toString());
    }

    private static int hex(String text, int from) {
        int code = 0;
        for (int i = from; i < from + 4; i++) {
            int digit = Character.digit(text.charAt(i), 16);
            if (digit < 0 || text.charAt(i) > 'f') {
                return -1;
            }
            code = code * 16 + digit;
        }
        return code;
    }
}
