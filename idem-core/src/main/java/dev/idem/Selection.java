package dev.idem;

import dev.idem.internal.text.KeyTime;
import dev.idem.internal.text.Text;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a {@link KeySelector} found: parts that identify the message, or why there are none. Immutable. */
public sealed interface Selection {
    /** The most bytes all parts together may have in UTF-8. */
    int MAX_BYTES = 1024;

    Selection ofTenant(String tenant);

    Selection fromSource(String source);

    /** Makes the time of the event part of the identity, to the millisecond. */
    Selection atTime(Instant eventTime);

    static Selection of(Optional<String> id) {
        return id.isPresent()
                ? of(List.of(id.get()))
                : new Unusable(Rejection.KEY_MISSING, "the message has no id, or more than one");
    }

    static Selection of(List<String> ids) {
        return hasNull(ids)
                ? new Unusable(Rejection.KEY_MISSING, "a part of the key is missing")
                : new Parts(null, null, ids).checked();
    }

    private static boolean hasNull(List<String> ids) {
        for (String id : ids) { // not contains(null), which immutable lists refuse
            if (id == null) {
                return true;
            }
        }
        return false;
    }

    /**
     * A usable identity: the parts, exactly as given.
     *
     * @param eventTime the time of the event, if that is part of the identity
     */
    record Parts(
            @Nullable String tenant,
            @Nullable String source,
            List<String> ids,
            @Nullable Instant eventTime) implements Selection {
        public Parts {
            ids = List.copyOf(ids);
            // Transports and formats keep different fractions of a second; all keep this one.
            eventTime = eventTime == null ? null : KeyTime.toMillis(eventTime);
        }

        public Parts(@Nullable String tenant, @Nullable String source, List<String> ids) {
            this(tenant, source, ids, null);
        }

        @Override
        public Selection ofTenant(String owner) {
            return new Parts(Objects.requireNonNull(owner), source, ids, eventTime).checked();
        }

        @Override
        public Selection fromSource(String origin) {
            return new Parts(tenant, Objects.requireNonNull(origin), ids, eventTime).checked();
        }

        @Override
        public Selection atTime(Instant time) {
            return new Parts(tenant, source, ids, Objects.requireNonNull(time)).checked();
        }

        /** Itself if it identifies a message, else why not. */
        public Selection checked() {
            if (ids.isEmpty()) {
                return new Unusable(Rejection.KEY_MISSING, "the key has no parts");
            }
            int bytes = 0;
            for (int i = -2; i < ids.size(); i++) {
                String part = i == -2 ? tenant : i == -1 ? source : ids.get(i);
                if (part == null) {
                    continue;
                }
                if (Text.isBlank(part)) {
                    return new Unusable(Rejection.KEY_BLANK, "a part of the key is empty or invisible");
                }
                if (Text.hasLoneSurrogate(part)) {
                    return new Unusable(Rejection.KEY_MALFORMED, "a part of the key has a lone surrogate");
                }
                bytes += Text.utf8Length(part);
            }
            if (eventTime != null && !KeyTime.fits(eventTime)) {
                return new Unusable(Rejection.KEY_MALFORMED, "the event time is before 1970 or after 10889");
            }
            return bytes > MAX_BYTES
                    ? new Unusable(
                            Rejection.KEY_TOO_LONG, "the key has " + bytes + " bytes, at most " + MAX_BYTES + " fit")
                    : this;
        }
    }

    /** No usable identity, and why. */
    record Unusable(Rejection reason, String detail) implements Selection {
        @Override
        public Selection ofTenant(String owner) {
            return this;
        }

        @Override
        public Selection fromSource(String origin) {
            return this;
        }

        @Override
        public Selection atTime(Instant time) {
            return this;
        }
    }
}
