package dev.idem.broker;

import dev.idem.Header;
import dev.idem.Message;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Where the attributes of a message come from. Each is looked for in this order: the header named here; CloudEvents
 * headers, or the payload of a structured event; what the broker itself has (a record's key and time, the
 * {@code message-id} property of AMQP). Immutable and thread-safe.
 *
 * <pre>{@code
 * Attributes.defaults().idFrom("x-message-id").typeFrom("x-event-type").structured(JacksonEvents.create())
 * }</pre>
 *
 * <p>A header that stands twice, or is not UTF-8, counts as absent: choosing one of two ids could merge or split messages.
 */
public final class Attributes {
    /** Carries the name of a replay session. */
    static final String REPLAY_SESSION = DeadLetter.PREFIX + "replay-session";

    private static final Attributes DEFAULTS = new Attributes(new Names(null, null, null, null, null, null), null);

    private final Names names;
    private final @Nullable StructuredEvents structured;

    private Attributes(Names names, @Nullable StructuredEvents structured) {
        this.names = names;
        this.structured = structured;
    }

    private record Names(
            @Nullable String id,
            @Nullable String source,
            @Nullable String type,
            @Nullable String version,
            @Nullable String orderingKey,
            @Nullable String time) {}

    public static Attributes defaults() {
        return DEFAULTS;
    }

    public Attributes idFrom(String header) {
        return with(new Names(header, names.source, names.type, names.version, names.orderingKey, names.time));
    }

    public Attributes sourceFrom(String header) {
        return with(new Names(names.id, header, names.type, names.version, names.orderingKey, names.time));
    }

    public Attributes typeFrom(String header) {
        return with(new Names(names.id, names.source, header, names.version, names.orderingKey, names.time));
    }

    public Attributes versionFrom(String header) {
        return with(new Names(names.id, names.source, names.type, header, names.orderingKey, names.time));
    }

    public Attributes orderingKeyFrom(String header) {
        return with(new Names(names.id, names.source, names.type, names.version, header, names.time));
    }

    /** A time as RFC 3339 has it, or milliseconds since 1970. */
    public Attributes timeFrom(String header) {
        return with(new Names(names.id, names.source, names.type, names.version, names.orderingKey, header));
    }

    /** Reads structured events too. Without this their attributes are not seen. */
    public Attributes structured(StructuredEvents events) {
        return new Attributes(names, events);
    }

    private Attributes with(Names changed) {
        return new Attributes(changed, structured);
    }

    /**
     * The message that a delivery is.
     *
     * @param raw payload, headers, content type and position as they arrived
     * @param broker what the broker itself has: set where nothing above says it
     */
    public Message read(Message raw, Broker broker) {
        Message.Builder named = raw.toBuilder();
        set(named, names.id, Message.Builder::id, raw);
        set(named, names.source, Message.Builder::source, raw);
        set(named, names.type, Message.Builder::type, raw);
        set(named, names.version, Message.Builder::version, raw);
        set(named, names.orderingKey, Message.Builder::orderingKey, raw);
        set(named, names.time, (builder, text) -> builder.eventTime(time(text)), raw);
        set(named, REPLAY_SESSION, Message.Builder::replaySession, raw);
        Message message = structured(named.build());
        return message.toBuilder()
                .id(message.id().orElse(broker.id))
                .type(message.type().orElse(broker.type))
                .orderingKey(message.orderingKey().orElse(broker.orderingKey))
                .eventTime(message.eventTime().orElse(broker.time))
                .build();
    }

    /**
     * What a broker knows about a delivery by itself.
     *
     * @param id an application's id, never one that the broker gives anew to each copy
     */
    public record Broker(
            @Nullable String id,
            @Nullable String type,
            @Nullable String orderingKey,
            @Nullable Instant time) {}

    private Message structured(Message message) {
        Optional<String> contentType = message.contentType();
        if (structured != null && contentType.isPresent() && structured.understands(contentType.get())) {
            try {
                return structured.read(message);
            } catch (RuntimeException notAnEvent) { // of whatever kind: a parser's mistake must not stop a partition
                return message;
            }
        }
        return message.toBuilder().fromCloudEventHeaders().build();
    }

    private static void set(
            Message.Builder builder, @Nullable String header, BiConsumer<Message.Builder, String> setter, Message raw) {
        if (header != null) {
            text(raw.headers(header)).ifPresent(value -> setter.accept(builder, value));
        }
    }

    /** The text of the only header there is. */
    static Optional<String> text(List<Header> found) {
        if (found.size() != 1) {
            return Optional.empty();
        }
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(found.get(0).value()))
                    .toString());
        } catch (CharacterCodingException malformed) {
            return Optional.empty();
        }
    }

    private static @Nullable Instant time(String text) {
        try {
            return text.chars().allMatch(c -> c >= '0' && c <= '9')
                    ? Instant.ofEpochMilli(Long.parseLong(text))
                    : OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException | NumberFormatException malformed) {
            return null;
        }
    }
}
