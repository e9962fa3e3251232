package dev.idem.replay;

import dev.idem.internal.text.Text;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Says where the messages of a replay come from, in one line that people type and tables keep: {@code
 * kafka:topic=orders;from=100;to=200}. Immutable and thread-safe.
 *
 * @param scheme which source
 * @param options which part of it
 */
public record ReplaySpec(String scheme, Map<String, String> options) {
    private static final Pattern WORD = Pattern.compile("[a-z][a-z-]{0,29}");

    public ReplaySpec {
        options = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(options));
        if (!WORD.matcher(scheme).matches()) {
            throw new IllegalArgumentException("a source begins with a word: stored, dead-letters or kafka");
        }
        options.forEach((name, value) -> {
            if (!WORD.matcher(name).matches() || value.isBlank() || value.indexOf(';') >= 0) {
                throw new IllegalArgumentException("an option of a source is name=value, without a semicolon in it");
            }
        });
    }

    /** A source without options. */
    public static ReplaySpec of(String scheme) {
        return new ReplaySpec(scheme, Map.of());
    }

    /** Reads what {@link #toString} writes. */
    public static ReplaySpec parse(String text) {
        int colon = text.indexOf(':');
        Map<String, String> options = new LinkedHashMap<>();
        if (colon >= 0 && colon + 1 < text.length()) {
            for (String option : text.substring(colon + 1).split(";", -1)) {
                int equals = option.indexOf('=');
                if (equals < 1
                        || options.put(
                                        option.substring(0, equals).strip(),
                                        option.substring(equals + 1).strip())
                                != null) {
                    throw new IllegalArgumentException(
                            "'" + Text.printable(option)
                                    + "' is not an option of a source, or it is there twice: say name=value, between semicolons");
                }
            }
        }
        return new ReplaySpec(colon < 0 ? text : text.substring(0, colon), options);
    }

    public ReplaySpec with(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(options);
        more.put(name, value);
        return new ReplaySpec(scheme, more);
    }

    public Optional<String> option(String name) {
        return Optional.ofNullable(options.get(name));
    }

    public String required(String name) {
        return option(name).orElseThrow(() -> new IllegalArgumentException(scheme + " needs the option " + name));
    }

    /** An option that is a number; empty if it is not there, or a time. */
    public OptionalLong number(String name) {
        return option(name).filter(text -> text.matches("\\d{1,18}")).stream()
                .mapToLong(Long::parseLong)
                .findFirst();
    }

    /** An option that is a time as ISO 8601 has it, in UTC; empty if it is not there, or a number. */
    public Optional<Instant> time(String name) {
        if (option(name).isEmpty() || number(name).isPresent()) {
            return Optional.empty();
        }
        try {
            return option(name).map(Instant::parse);
        } catch (DateTimeParseException malformed) {
            throw new IllegalArgumentException(
                    scheme + ": " + name + " is neither a number nor a time like 2026-03-02T09:00:00Z", malformed);
        }
    }

    /** Refuses options that nobody would look at: a mistyped bound would replay too much. */
    public ReplaySpec only(Set<String> known) {
        for (String name : options.keySet()) {
            if (!known.contains(name)) {
                throw new IllegalArgumentException(scheme + " has no option " + name + ", but "
                        + known.stream().sorted().toList());
            }
        }
        return this;
    }

    @Override
    public String toString() {
        return options.isEmpty()
                ? scheme
                : options.entrySet().stream()
                        .map(option -> option.getKey() + "=" + option.getValue())
                        .collect(Collectors.joining(";", scheme + ":", ""));
    }
}
