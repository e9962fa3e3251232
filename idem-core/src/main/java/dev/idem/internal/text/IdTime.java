package dev.idem.internal.text;

import java.time.Instant;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the time that some kinds of ids begin with. */
public final class IdTime {
    private static final Pattern ULID = Pattern.compile("[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}");
    private static final String CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

    private IdTime() {}

    /**
     * When something was made, in milliseconds since 1970: the event time if there is one, else the time in a UUIDv7 or ULID;
     * empty if neither says so.
     */
    public static OptionalLong millis(@Nullable Instant eventTime, String id) {
        if (eventTime != null) {
            return OptionalLong.of(eventTime.toEpochMilli());
        }
        return isUuid(id) ? ofUuid(UUID.fromString(id)) : ofUlid(id);
    }

    /** In lower case, with dashes where they belong. A loop, because every message passes here. */
    public static boolean isUuid(String id) {
        if (id.length() != 36) {
            return false;
        }
        for (int i = 0; i < 36; i++) {
            char c = id.charAt(i);
            boolean dash = i == 8 || i == 13 || i == 18 || i == 23;
            if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
                return false;
            }
        }
        return true;
    }

    private static OptionalLong ofUuid(UUID uuid) {
        return uuid.version() == 7 ? OptionalLong.of(uuid.getMostSignificantBits() >>> 16) : OptionalLong.empty();
    }

    private static OptionalLong ofUlid(String id) {
        if (id.length() != 26 || !ULID.matcher(id).matches()) {
            return OptionalLong.empty();
        }
        long millis = 0;
        for (char c : id.substring(0, 10).toUpperCase(Locale.ROOT).toCharArray()) {
            millis = millis << 5 | CROCKFORD.indexOf(c);
        }
        return OptionalLong.of(millis);
    }
}
