package dev.idem.broker;

import dev.idem.Header;
import dev.idem.Message;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The headers by which a family of producers says what a message is. Of two headers for one attribute the later one counts.
 * Immutable.
 */
record Convention(List<Named> headers) {
    static final Convention NSERVICEBUS = new Convention(List.of(
            named("NServiceBus.MessageId", Attribute.ID),
            new Named("NServiceBus.EnclosedMessageTypes", Attribute.TYPE, Convention::firstNetType),
            named("NServiceBus.OriginatingEndpoint", Attribute.SOURCE),
            named("NServiceBus.TimeSent", Attribute.TIME),
            named("NServiceBus.ContentType", Attribute.CONTENT_TYPE),
            named("NServiceBus.ConversationId", Attribute.CORRELATION_ID),
            named("NServiceBus.CorrelationId", Attribute.CORRELATION_ID),
            named("NServiceBus.RelatedTo", Attribute.CAUSATION_ID)));

    private static final List<Named> MASSTRANSIT_OWN = List.of(
            new Named("MT-MessageType", Attribute.TYPE, Convention::first),
            new Named("MT-Source-Address", Attribute.SOURCE, Convention::lastingAddress),
            named("MT-InitiatorId", Attribute.CAUSATION_ID));

    /** Where it puts no envelope around the message. */
    static final Convention MASSTRANSIT = new Convention(Stream.concat(
                    MASSTRANSIT_OWN.stream(),
                    Stream.of(
                            named("MessageId", Attribute.ID),
                            named("ConversationId", Attribute.CORRELATION_ID),
                            named("CorrelationId", Attribute.CORRELATION_ID),
                            named("Content-Type", Attribute.CONTENT_TYPE)))
            .toList());

    static final Convention SPRING = new Convention(List.of(
            named("__TypeId__", Attribute.TYPE),
            named("contentType", Attribute.CONTENT_TYPE),
            named("correlationId", Attribute.CORRELATION_ID)));

    static final Convention DEBEZIUM_OUTBOX =
            new Convention(List.of(named("id", Attribute.ID), named("eventType", Attribute.TYPE)));

    /** The CloudEvents extension for correlation, as each binding spells it. */
    private static final List<Named> EVENT_CORRELATION = Stream.of("ce_", "ce-", "cloudEvents:", "cloudEvents_")
            .flatMap(prefix -> Stream.of(
                    named(prefix + "correlationid", Attribute.CORRELATION_ID),
                    named(prefix + "causationid", Attribute.CAUSATION_ID)))
            .toList();

    /** CloudEvents over AMQP says so by one of these. */
    private static final Set<String> EVENT_OVER_AMQP = Set.of("cloudEvents:specversion", "cloudEvents_specversion");

    /** The extensions of such an event as the SDK for Java writes them: without the prefix that its attributes have. */
    private static final Convention BARE_EXTENSIONS = new Convention(List.of(
            named("partitionkey", Attribute.ORDERING_KEY),
            named("correlationid", Attribute.CORRELATION_ID),
            named("causationid", Attribute.CAUSATION_ID)));

    /** Names that nobody else uses, so nobody needs to say who the producer is. */
    static final Convention KNOWN = new Convention(Stream.of(
                    EVENT_CORRELATION.stream(),
                    NSERVICEBUS.headers().stream(),
                    MASSTRANSIT_OWN.stream(),
                    Stream.of(named("__TypeId__", Attribute.TYPE)))
            .flatMap(each -> each)
            .toList());

    private static final Set<String> KNOWN_NAMES =
            KNOWN.headers().stream().map(Named::header).collect(Collectors.toUnmodifiableSet());

    /** A header, and how its text becomes an attribute; an empty text stands for none. */
    record Named(String header, Attribute attribute, UnaryOperator<String> form) {}

    Convention {
        headers = List.copyOf(headers);
    }

    static Named named(String header, Attribute attribute) {
        return new Named(header, attribute, text -> text);
    }

    /** What the headers of a message say. */
    Map<Attribute, String> in(Message message) {
        Map<Attribute, String> found = new EnumMap<>(Attribute.class);
        for (Named each : headers) {
            message.header(each.header).ifPresent(text -> {
                String formed = each.form.apply(text);
                if (!formed.isEmpty() || text.isEmpty()) { // what came empty is judged by the consumer's policy
                    found.put(each.attribute, formed);
                }
            });
        }
        return found;
    }

    /** The message with what well-known names say, where nothing else has said it. One look, because every message passes here. */
    static Message completed(Message message) {
        boolean known = false;
        boolean event = false;
        for (Header header : message.headers()) {
            known |= KNOWN_NAMES.contains(header.name());
            event |= EVENT_OVER_AMQP.contains(header.name());
        }
        if (!known && !event) {
            return message;
        }
        Map<Attribute, String> found = event ? BARE_EXTENSIONS.in(message) : new EnumMap<>(Attribute.class);
        found.putAll(KNOWN.in(message));
        found.keySet().removeIf(attribute -> attribute.isIn(message));
        return Attribute.set(message, found);
    }

    private static String first(String list) {
        int end = list.indexOf(';');
        return (end < 0 ? list : list.substring(0, end)).strip();
    }

    /** Without the assembly and its version, which change although the type does not. */
    private static String firstNetType(String types) {
        String first = first(types);
        int end = first.indexOf(',');
        return (end < 0 ? first : first.substring(0, end)).strip();
    }

    /** A temporary queue is another one in each process, so it does not say who made the message. */
    private static String lastingAddress(String address) {
        int query = address.indexOf('?');
        boolean temporary = query >= 0 && address.indexOf("temporary=true", query) >= 0;
        return temporary ? "" : query < 0 ? address : address.substring(0, query);
    }
}
