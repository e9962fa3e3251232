package dev.idem.broker;

import dev.idem.Message;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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
 * <p>Headers that begin with {@code idem-} are Idem's own. From a producer they are ignored.
 *
 * <p>A header that stands twice, or is not UTF-8, counts as absent: choosing one of two ids could merge or split messages.
 */
public final class Attributes {
    private static final Attributes DEFAULTS = new Attributes(List.of(), null);

    private final List<Named> named;
    private final @Nullable StructuredEvents structured;

    private Attributes(List<Named> named, @Nullable StructuredEvents structured) {
        this.named = List.copyOf(named);
        this.structured = structured;
    }

    /** A header, and what its text is. */
    private record Named(String header, BiConsumer<Message.Builder, String> setter, boolean isId) {}

    public static Attributes defaults() {
        return DEFAULTS;
    }

    public Attributes idFrom(String header) {
        return with(header, Message.Builder::id, true);
    }

    public Attributes sourceFrom(String header) {
        return with(header, Message.Builder::source);
    }

    public Attributes typeFrom(String header) {
        return with(header, Message.Builder::type);
    }

    public Attributes versionFrom(String header) {
        return with(header, Message.Builder::version);
    }

    public Attributes orderingKeyFrom(String header) {
        return with(header, Message.Builder::orderingKey);
    }

    /** A time as RFC 3339 has it, or milliseconds since 1970. */
    public Attributes timeFrom(String header) {
        return with(header, (message, text) -> message.eventTime(time(text)));
    }

    /**
     * The name of the replay session that a delivery belongs to. Choose this only where every producer is trusted: a session
     * may run what is done already. Without it no header counts, and sessions are delivered by a {@code Replayer} alone.
     */
    public Attributes replaySessionFrom(String header) {
        return with(header, Message.Builder::replaySession);
    }

    /** Reads structured events too. Without this their attributes are not seen. */
    public Attributes structured(StructuredEvents events) {
        return new Attributes(named, events);
    }

    private Attributes with(String header, BiConsumer<Message.Builder, String> setter) {
        return with(header, setter, false);
    }

    private Attributes with(String header, BiConsumer<Message.Builder, String> setter, boolean isId) {
        List<Named> more = new ArrayList<>(named);
        more.add(new Named(Objects.requireNonNull(header, "header"), setter, isId));
        return new Attributes(more, structured);
    }

    /**
     * The message that a delivery is, without headers that begin with {@code idem-}: producers may not set them.
     *
     * @param raw payload, headers, content type and position as they arrived
     * @param broker what the broker itself has: set where nothing above says it
     */
    public Message read(Message raw, Broker broker) {
        Message.Builder read = raw.toBuilder();
        if (raw.headers().stream().anyMatch(header -> DeadLetter.isOurs(header.name()))) {
            read.withHeaders(DeadLetter.withoutOurs(raw.headers()));
        }
        named.forEach(each -> raw.header(each.header).ifPresent(text -> each.setter.accept(read, text)));
        Message message = broker.completed(event(read, raw.contentType().orElse(null)));
        return message.id().isPresent()
                ? message
                : message.toBuilder().idSought(idSought()).build();
    }

    private String idSought() {
        StringBuilder places = new StringBuilder();
        named.stream()
                .filter(Named::isId)
                .forEach(
                        each -> places.append("the header ").append(each.header).append(", "));
        return places.append("the headers of CloudEvents (ce_id, ce-id, cloudEvents:id, cloudEvents_id)")
                .append(structured == null ? "" : ", the payload of a structured event")
                .append(" and what the broker itself has (message-id of AMQP, messageId of JMS)")
                .toString();
    }

    /** With the attributes of a structured event, or else of CloudEvents headers. */
    private Message event(Message.Builder read, @Nullable String contentType) {
        if (structured != null && contentType != null) {
            Message message = read.build();
            try {
                if (structured.understands(contentType)) {
                    return structured.read(message);
                }
            } catch (RuntimeException notAnEvent) { // of whatever kind: a parser's mistake must not stop a listener
                return message;
            }
        }
        return read.fromCloudEventHeaders().build();
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
            @Nullable Instant time) {
        private Message completed(Message message) {
            boolean lacking = (id != null && message.id().isEmpty())
                    || (type != null && message.type().isEmpty())
                    || (orderingKey != null && message.orderingKey().isEmpty())
                    || (time != null && message.eventTime().isEmpty());
            if (!lacking) {
                return message;
            }
            return message.toBuilder()
                    .id(message.id().orElse(id))
                    .type(message.type().orElse(type))
                    .orderingKey(message.orderingKey().orElse(orderingKey))
                    .eventTime(message.eventTime().orElse(time))
                    .build();
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
