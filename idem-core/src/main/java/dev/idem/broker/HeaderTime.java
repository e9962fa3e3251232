package dev.idem.broker;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;

/** Times as producers write them into headers. Stateless. */
final class HeaderTime {
    /** Not ISO 8601: a colon stands before the fraction of the second. */
    private static final DateTimeFormatter NSERVICEBUS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss:SSSSSS 'Z'", Locale.ROOT);

    private HeaderTime() {}

    /** RFC 3339, milliseconds since 1970, or NServiceBus' own format; empty if it is none of these. */
    static Optional<Instant> of(String text) {
        try {
            if (!text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
                return Optional.of(Instant.ofEpochMilli(Long.parseLong(text)));
            }
            return Optional.of(
                    text.endsWith(" Z")
                            ? LocalDateTime.parse(text, NSERVICEBUS).toInstant(ZoneOffset.UTC)
                            : OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException | NumberFormatException malformed) {
            return Optional.empty();
        }
    }
}
