package dev.idem.internal.key;

import dev.idem.Message;
import dev.idem.Selection;
import dev.idem.internal.text.IdTime;
import dev.idem.internal.text.KeyTime;
import dev.idem.internal.text.PartsDigest;
import dev.idem.internal.text.Text;
import dev.idem.spi.MarkerKey;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Turns the parts of a key into 16 bytes. A canonical lower-case UUID that stands alone goes in verbatim, so that
 * time-ordered ids keep their order in the index. Everything else becomes a version-8 UUID from SHA-256 over
 * length-prefixed parts, with the 48-bit time of a UUIDv7, a ULID or the event kept in front. Verbatim UUIDs of version 8 are hashed
 * as well, so the two kinds can never meet.
 */
public final class KeyEncoding {
    private static final int HASHED_VERSION = 8;
    private static final int OF_SESSION = -2;
    private static final int OF_PUBLICATION = -3;

    private KeyEncoding() {}

    /**
     * The key, and when the message was made if its identity says so: the event time where that is a part of it, else the
     * time in a UUIDv7 or ULID. A redelivery cannot change either.
     */
    public static Keyed.Key encode(String consumer, Selection.Parts parts) {
        boolean alone = parts.tenant() == null
                && parts.source() == null
                && parts.ids().size() == 1
                && parts.eventTime() == null;
        String last = parts.ids().get(parts.ids().size() - 1);
        UUID uuid = IdTime.isUuid(last) ? UUID.fromString(last) : null;
        OptionalLong millis = IdTime.millis(parts.eventTime(), last);
        Instant made = millis.isPresent() ? Instant.ofEpochMilli(millis.getAsLong()) : null;
        MarkerKey key = alone && uuid != null && uuid.version() != HASHED_VERSION
                ? new MarkerKey(consumer, uuid, null)
                : new MarkerKey(consumer, hashed(parts, millis), readable(parts, alone));
        return new Keyed.Key(key, made);
    }

    /**
     * The key of a message in a replay session, made from its ordinary one. It is never an id itself, so no session can
     * meet an ordinary key or that of another one, and begins as the ordinary one does, with the time if that has one.
     */
    public static MarkerKey ofSession(MarkerKey ordinary, String session) {
        // Begins as no list of parts does, so that none gives the same bytes.
        ByteBuffer digest = ByteBuffer.wrap(new PartsDigest()
                .addApart(OF_SESSION, session)
                .add(ordinary.value().toString())
                .add(ordinary.readable())
                .bytes());
        long high = (ordinary.value().getMostSignificantBits() & ~0xFFFFL) | (digest.getLong() & 0xFFFFL);
        return new MarkerKey(
                ordinary.consumer(), version8(high, digest.getLong()), ordinary.id() + MarkerKey.SESSION + session);
    }

    /**
     * What tells one publication from all others, and is the same when its input is handled again: who published it for which
     * input, in which step, under which id, and as which of several with that id. It begins as the input's key does.
     */
    public static MarkerKey ofPublication(
            String outbox, String scope, MarkerKey input, @Nullable String step, Message message, long ordinal) {
        String id = message.id().orElseThrow();
        ByteBuffer digest = ByteBuffer.wrap(new PartsDigest()
                .addApart(OF_PUBLICATION, scope)
                .add(input.value().toString())
                .add(input.readable())
                .add(step)
                .add(message.source().orElse(null))
                .add(id)
                .add(Long.toString(ordinal))
                .bytes());
        long high = (input.value().getMostSignificantBits() & ~0xFFFFL) | (digest.getLong() & 0xFFFFL);
        return new MarkerKey(
                outbox, version8(high, digest.getLong()), readable(new Selection.Parts(null, null, List.of(id)), true));
    }

    private static UUID version8(long high, long low) {
        return new UUID(
                (high & ~0xF000L) | ((long) HASHED_VERSION << 12), (low & 0x3FFF_FFFF_FFFF_FFFFL) | Long.MIN_VALUE);
    }

    /** A key that nobody else has. It begins with the present time, so that every store has a place for it. */
    public static MarkerKey unique(String consumer) {
        UUID random = UUID.randomUUID();
        long high = KeyTime.prefix(Instant.now()) | 0x7000L | (random.getMostSignificantBits() & 0xFFFL);
        return new MarkerKey(consumer, new UUID(high, random.getLeastSignificantBits()), null);
    }

    /** The same, with the text of an id beside it, by which people find it. */
    public static MarkerKey unique(String consumer, Selection.Parts id) {
        return new MarkerKey(consumer, unique(consumer).value(), readable(id, true));
    }

    private static UUID hashed(Selection.Parts parts, OptionalLong millis) {
        PartsDigest parted = new PartsDigest().add(parts.tenant()).add(parts.source());
        parts.ids().forEach(parted::add);
        if (parts.eventTime() != null) {
            parted.add("at " + parts.eventTime());
        }
        ByteBuffer digest = ByteBuffer.wrap(parted.bytes());
        long high = digest.getLong();
        long low = digest.getLong();
        if (millis.isPresent()) {
            high = (millis.getAsLong() << 16) | (high & 0xFFFFL);
        }
        return version8(high, low);
    }

    /** When the message was made, if its identity says so. */
    static @Nullable Instant madeAt(Selection.Parts parts) {
        OptionalLong millis =
                IdTime.millis(parts.eventTime(), parts.ids().get(parts.ids().size() - 1));
        return millis.isPresent() ? Instant.ofEpochMilli(millis.getAsLong()) : null;
    }

    /** When the message of a key was made, if the key is its id alone and that says so. */
    public static @Nullable Instant madeAt(MarkerKey key) {
        return madeAt(new Selection.Parts(null, null, List.of(key.id())));
    }

    /** Whether a key begins with the time that is in the message's id, which may be one part of the key among others. */
    public static boolean isTimed(MarkerKey key, Message message) {
        if (key.value().version() == 7) {
            return true;
        }
        Instant made = message.id()
                .map(id -> madeAt(new Selection.Parts(null, null, List.of(id))))
                .orElse(null);
        return made != null && made.toEpochMilli() == key.value().getMostSignificantBits() >>> 16;
    }

    private static String readable(Selection.Parts parts, boolean alone) {
        StringBuilder text = new StringBuilder();
        append(text, "tenant=", parts.tenant());
        append(text, "source=", parts.source());
        parts.ids().forEach(id -> append(text, alone ? "" : "id=", id));
        append(
                text,
                "time=",
                parts.eventTime() == null ? null : parts.eventTime().toString());
        return text.toString();
    }

    private static void append(StringBuilder text, String label, @Nullable String part) {
        if (part == null) {
            return;
        }
        if (text.length() > 0) {
            text.append('/');
        }
        text.append(label);
        part.codePoints().forEach(c -> {
            if (c == '/' || c == '=' || c == '\\') {
                text.append('\\');
            }
            Text.appendVisible(text, c);
        });
    }
}
