package dev.idem.jdbc.admin;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.jdbc.internal.sql.StoredText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a person wants changed in a stored message. Immutable and thread-safe. */
public final class InboxEdit {
    private static final InboxEdit NOTHING = new InboxEdit(null, Map.of());

    private final byte @Nullable [] payload;
    private final Map<String, Optional<byte[]>> headers;

    private InboxEdit(byte @Nullable [] payload, Map<String, Optional<byte[]>> headers) {
        this.payload = payload;
        this.headers = headers;
    }

    public static InboxEdit nothing() {
        return NOTHING;
    }

    /** Another payload. */
    public InboxEdit payload(byte[] value) {
        return new InboxEdit(value.clone(), headers);
    }

    /** Sets a header, in place of all of that name. */
    public InboxEdit header(String name, String value) {
        return with(name, Optional.of(value.getBytes(StandardCharsets.UTF_8)));
    }

    /** Takes all headers of that name away. */
    public InboxEdit withoutHeader(String name) {
        return with(name, Optional.empty());
    }

    private InboxEdit with(String name, Optional<byte[]> value) {
        Map<String, Optional<byte[]>> more = new LinkedHashMap<>(headers);
        more.put(Objects.requireNonNull(name, "name"), value);
        return new InboxEdit(payload, more);
    }

    boolean changesHeaders() {
        return !headers.isEmpty();
    }

    byte[] payloadInstead(byte[] before) {
        return payload == null ? before : payload;
    }

    /** The message with the headers as they are wanted: those that stay keep their places. */
    Message applied(Message before) {
        List<Header> kept = new ArrayList<>();
        List<String> placed = new ArrayList<>();
        for (Header header : before.headers()) {
            Optional<byte[]> wanted = headers.get(header.name());
            if (wanted == null) {
                kept.add(header);
            } else if (wanted.isPresent() && !placed.contains(header.name())) {
                kept.add(new Header(header.name(), wanted.get()));
                placed.add(header.name());
            }
        }
        headers.forEach((name, value) -> {
            if (value.isPresent() && !placed.contains(name)) {
                kept.add(new Header(name, value.get()));
            }
        });
        return Message.builder()
                .id(before.id().orElse(null))
                .source(before.source().orElse(null))
                .type(before.type().orElse(null))
                .version(before.version().orElse(null))
                .orderingKey(before.orderingKey().orElse(null))
                .contentType(before.contentType().orElse(null))
                .replaySession(before.replaySession().orElse(null))
                .markedAs(before.markedAs().orElse(null))
                .eventTime(before.eventTime().orElse(null))
                .position(before.position().orElse(null))
                .headers(kept)
                .build();
    }

    /** What it changes, without any value. */
    String describe(byte[] before) {
        List<String> changes = new ArrayList<>();
        if (payload != null && !Arrays.equals(payload, before)) {
            changes.add("payload of " + before.length + " bytes → " + payload.length + " bytes");
        }
        headers.forEach((name, value) ->
                changes.add("header " + StoredText.storable(name) + (value.isPresent() ? " set" : " removed")));
        return String.join("; ", changes);
    }
}
