package dev.idem.broker;

import dev.idem.Header;
import dev.idem.Message;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The headers of a message that is published: its own, and its attributes as those of a CloudEvent in binary mode.
 * Stateless. */
public final class EventHeaders {
    private static final Set<String> ATTRIBUTES = Set.of("id", "source", "type", "time", "partitionkey", "specversion");

    private static final Set<String> NAMES = Stream.of("ce_", "ce-", "cloudevents:", "cloudevents_")
            .flatMap(prefix -> ATTRIBUTES.stream().map(prefix::concat))
            .collect(Collectors.toUnmodifiableSet());

    private EventHeaders() {}

    /**
     * Where {@link Attributes#defaults} finds what the message is. Older headers of these names are left out: one that stands
     * twice counts as absent.
     *
     * @param prefix as the broker's binding of CloudEvents has it: {@code ce_}, {@code cloudEvents:}
     */
    public static List<Header> of(Message message, String prefix) {
        Map<String, String> attributes = new LinkedHashMap<>();
        attributes.put("specversion", "1.0");
        message.id().ifPresent(id -> attributes.put("id", id));
        message.source().ifPresent(source -> attributes.put("source", source));
        message.type().ifPresent(type -> attributes.put("type", type));
        message.eventTime().ifPresent(time -> attributes.put("time", time.toString()));
        message.orderingKey().ifPresent(key -> attributes.put("partitionkey", key));
        List<Header> headers = new ArrayList<>();
        for (Header header : message.headers()) {
            if (!NAMES.contains(header.name().toLowerCase(Locale.ROOT))) {
                headers.add(header);
            }
        }
        attributes.forEach((name, value) -> headers.add(new Header(prefix + name, value)));
        return headers;
    }
}
