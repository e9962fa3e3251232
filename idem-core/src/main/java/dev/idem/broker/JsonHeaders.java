package dev.idem.broker;

import dev.idem.Header;
import dev.idem.Message;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Headers whose values are JSON: a producer that writes them so puts quotes around an id, and others do not. They are taken off only
 * where it is certain that the value is JSON, because an id may have quotes of its own.
 */
final class JsonHeaders {
    /** Spring for Apache Kafka names in it all headers that it has written as JSON. */
    private static final String SPRING_TYPES = "spring_json_header_types";

    private final Message plain;
    private final Map<Header, Header> originals;

    private JsonHeaders(Message plain, Map<Header, Header> originals) {
        this.plain = plain;
        this.originals = originals;
    }

    /** @param all whether all headers are JSON, and not only those of which Spring says so */
    static JsonHeaders of(Message message, boolean all) {
        Optional<String> spring = all ? Optional.empty() : message.header(SPRING_TYPES);
        if (!all && spring.isEmpty()) {
            return new JsonHeaders(message, Map.of());
        }
        Map<Header, Header> originals = new HashMap<>();
        List<Header> headers = message.headers().stream()
                .map(header -> {
                    boolean json = all || spring.orElse("").contains('"' + header.name() + "\":");
                    Optional<Header> said = json ? said(header) : Optional.empty();
                    said.ifPresent(text -> originals.put(text, header));
                    return said.orElse(header);
                })
                .toList();
        return originals.isEmpty()
                ? new JsonHeaders(message, Map.of())
                : new JsonHeaders(message.toBuilder().withHeaders(headers).build(), originals);
    }

    private static Optional<Header> said(Header header) {
        return header.utf8().flatMap(JsonText::said).map(text -> new Header(header.name(), text));
    }

    /** The message with the text that the JSON says. */
    Message plain() {
        return plain;
    }

    /** What became of it, with the headers as they arrived. */
    Message restored(Message message) {
        return originals.isEmpty()
                ? message
                : message.toBuilder()
                        .withHeaders(message.headers().stream()
                                .map(header -> originals.getOrDefault(header, header))
                                .toList())
                        .build();
    }
}
