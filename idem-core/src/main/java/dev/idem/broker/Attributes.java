package dev.idem.broker;

import dev.idem.Message;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where the attributes of a message come from. Each is looked for in this order: the header named here; CloudEvents
 * headers, or the payload of a structured event; headers whose names nobody else uses ({@code NServiceBus.MessageId}, Spring's
 * {@code __TypeId__}, MassTransit's {@code MT-MessageType}); what the broker itself has (a record's key and time, the {@code
 * message-id} property of AMQP). Immutable and thread-safe.
 *
 * <pre>{@code
 * Attributes.debeziumOutbox()
 * Attributes.defaults().idFrom("x-message-id").typeFrom("x-event-type")
 * }</pre>
 *
 * <p>Payloads that wrap a message, structured CloudEvents and MassTransit's envelope, are opened if {@code idem-jackson} is on the
 * class path.
 *
 * <p>Headers that begin with {@code idem-} are Idem's own: what a producer writes into them is taken off. Only {@link
 * dev.idem.queue.Outbox#CAUSATION_ID} and {@link dev.idem.queue.Outbox#CORRELATION_ID} are taken from anybody, because another service's outbox
 * writes them; nothing is decided by them.
 *
 * <p>A header that stands twice, or is not UTF-8, counts as absent: choosing one of two ids could merge or split messages.
 */
public final class Attributes {
    private static final Attributes DEFAULTS = new Attributes(List.of(), InstalledFormats.all(), false);

    private final List<Convention.Named> named;
    private final List<StructuredEvents> structured;
    private final boolean json;

    private Attributes(List<Convention.Named> named, List<StructuredEvents> structured, boolean json) {
        this.named = List.copyOf(named);
        this.structured = List.copyOf(structured);
        this.json = json;
    }

    /** What is found without being told who the producer is. */
    public static Attributes defaults() {
        return DEFAULTS;
    }

    /**
     * CloudEvents in both modes.
     *
     * @throws IllegalStateException if {@code idem-jackson} is not there to read structured ones
     */
    public static Attributes cloudEvents() {
        return DEFAULTS.structured(InstalledFormats.required("structured CloudEvents", EventFormats::cloudEvents));
    }

    /**
     * Spring's templates, streams and converters: type {@code __TypeId__}, content type {@code contentType}, correlation
     * {@code correlationId}. Spring sends no id over Kafka: name the header that has yours with {@link #idFrom}.
     */
    public static Attributes spring() {
        return DEFAULTS.with(Convention.SPRING);
    }

    /**
     * Debezium's outbox event router: id {@code id}, type {@code eventType}, with or without the quotes that its JsonConverter puts
     * around them. The type is there if the connector says so: {@code table.fields.additional.placement=type:header:eventType}.
     */
    public static Attributes debeziumOutbox() {
        return DEFAULTS.with(Convention.DEBEZIUM_OUTBOX).jsonHeaders();
    }

    /**
     * MassTransit: its envelope, which is opened, so that the payload is the message inside; and the headers that it writes where
     * there is no envelope.
     *
     * @throws IllegalStateException if {@code idem-jackson} is not there to open envelopes
     */
    public static Attributes massTransit() {
        return DEFAULTS.with(Convention.MASSTRANSIT)
                .structured(InstalledFormats.required("the envelope of MassTransit", EventFormats::massTransit));
    }

    /** NServiceBus: the headers that begin with {@code NServiceBus.}, before all others. */
    public static Attributes nServiceBus() {
        return DEFAULTS.with(Convention.NSERVICEBUS);
    }

    public Attributes idFrom(String header) {
        return with(header, Attribute.ID);
    }

    public Attributes sourceFrom(String header) {
        return with(header, Attribute.SOURCE);
    }

    public Attributes typeFrom(String header) {
        return with(header, Attribute.TYPE);
    }

    public Attributes versionFrom(String header) {
        return with(header, Attribute.VERSION);
    }

    public Attributes orderingKeyFrom(String header) {
        return with(header, Attribute.ORDERING_KEY);
    }

    public Attributes contentTypeFrom(String header) {
        return with(header, Attribute.CONTENT_TYPE);
    }

    /** See {@link Message#correlationId}. */
    public Attributes correlationIdFrom(String header) {
        return with(header, Attribute.CORRELATION_ID);
    }

    /** See {@link Message#causationId}. */
    public Attributes causationIdFrom(String header) {
        return with(header, Attribute.CAUSATION_ID);
    }

    /** A time as RFC 3339 has it, or as NServiceBus writes it, or milliseconds since 1970. */
    public Attributes timeFrom(String header) {
        return with(header, Attribute.TIME);
    }

    /**
     * The name of the replay session that a delivery belongs to. Choose this only where every producer is trusted: a session
     * may run what is done already. Without it no header counts, and sessions are delivered by a {@code Replayer} alone.
     */
    public Attributes replaySessionFrom(String header) {
        return with(header, Attribute.REPLAY_SESSION);
    }

    /**
     * All header values, and the broker's key, are JSON: quotes around a text are not a part of it, and of Kafka Connect's {@code
     * {"schema":…,"payload":…}} the payload counts. Handlers get the headers as they arrived. Where Spring for Apache Kafka says
     * that a header is JSON, this needs not be said.
     */
    public Attributes jsonHeaders() {
        return new Attributes(named, structured, true);
    }

    /** Also opens payloads that this reader understands. It is asked before those that are there already. */
    public Attributes structured(StructuredEvents events) {
        List<StructuredEvents> more = new ArrayList<>();
        more.add(Objects.requireNonNull(events, "events"));
        more.addAll(structured);
        return new Attributes(named, more, json);
    }

    /** Opens no payload: handlers get it as it arrived, and attributes come from headers and the broker alone. */
    public Attributes unopened() {
        return new Attributes(named, List.of(), json);
    }

    private Attributes with(String header, Attribute attribute) {
        Objects.requireNonNull(header, "header");
        return with(new Convention(List.of(Convention.named(header, attribute))));
    }

    private Attributes with(Convention convention) {
        List<Convention.Named> more = new ArrayList<>(named);
        more.addAll(convention.headers());
        return new Attributes(more, structured, json);
    }

    /**
     * The message that a delivery is, without headers that begin with {@code idem-}: producers may not set them, but the two of
     * an outbox.
     *
     * @param raw payload, headers, content type and position as they arrived
     * @param broker what the broker itself has: set where nothing above says it
     */
    public Message read(Message raw, Broker broker) {
        JsonHeaders headers = JsonHeaders.of(raw, json);
        Message read = headers.plain();
        if (!named.isEmpty()) {
            read = Attribute.set(read, new Convention(named).in(read));
        }
        if (raw.headers().stream().anyMatch(header -> DeadLetter.isOurs(header.name()))) {
            read = read.toBuilder()
                    .withHeaders(DeadLetter.withoutOurs(read.headers()))
                    .build();
        }
        Message known = Convention.completed(event(read));
        Message message = headers.restored((json ? broker.plain() : broker).completed(known));
        return message.id().isPresent()
                ? message
                : message.toBuilder().idSought(idSought()).build();
    }

    private String idSought() {
        StringBuilder places = new StringBuilder();
        named.stream()
                .filter(each -> each.attribute() == Attribute.ID)
                .forEach(each ->
                        places.append("the header ").append(each.header()).append(", "));
        return places.append("the headers of CloudEvents (ce_id, ce-id, cloudEvents:id, cloudEvents_id)")
                .append(structured.isEmpty() ? "" : ", the payload of a structured event")
                .append(" and what the broker itself has (message-id of AMQP, messageId of JMS)")
                .toString();
    }

    /** With the attributes of a structured event, or else of CloudEvents headers. */
    private Message event(Message message) {
        String contentType = message.contentType().orElse("");
        for (StructuredEvents format : structured) {
            try {
                if (!contentType.isEmpty() && format.understands(contentType)) {
                    return format.read(message);
                }
            } catch (RuntimeException notAnEvent) { // of whatever kind: a parser's mistake must not stop a listener
                return message;
            }
        }
        return message.toBuilder().fromCloudEventHeaders().build();
    }

    /**
     * What a broker knows about a delivery by itself.
     *
     * @param id an application's id, never one that the broker gives anew to each copy
     * @param correlationId as the protocol of the broker has it
     */
    public record Broker(
            @Nullable String id,
            @Nullable String type,
            @Nullable String orderingKey,
            @Nullable Instant time,
            @Nullable String correlationId) {
        public Broker(
                @Nullable String id, @Nullable String type, @Nullable String orderingKey, @Nullable Instant time) {
            this(id, type, orderingKey, time, null);
        }

        /** With the key that its JSON says. */
        private Broker plain() {
            String said =
                    orderingKey == null ? null : JsonText.said(orderingKey).orElse(orderingKey);
            return new Broker(id, type, said, time, correlationId);
        }

        private Message completed(Message message) {
            Map<Attribute, String> found = new EnumMap<>(Attribute.class);
            lacking(Attribute.ID, id, message, found);
            lacking(Attribute.TYPE, type, message, found);
            lacking(Attribute.ORDERING_KEY, orderingKey, message, found);
            lacking(Attribute.CORRELATION_ID, correlationId, message, found);
            Message known = Attribute.set(message, found);
            return time != null && known.eventTime().isEmpty()
                    ? known.toBuilder().eventTime(time).build()
                    : known;
        }

        private static void lacking(
                Attribute attribute, @Nullable String value, Message message, Map<Attribute, String> found) {
            if (value != null && !attribute.isIn(message)) {
                found.put(attribute, value);
            }
        }
    }
}
