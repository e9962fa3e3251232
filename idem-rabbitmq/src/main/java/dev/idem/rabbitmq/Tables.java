package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.LongString;
import dev.idem.Header;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Header tables of AMQP, and the headers of a message. Text and binary values keep their bytes; a list becomes one header
 * for each element; numbers, booleans and nested tables become their text, times ISO-8601; void becomes empty.
 */
final class Tables {
    /** Counts failures of the handler. The broker's own counts mislead, and differ between its versions. */
    static final String FAILURES = "idem-failures";

    static final String SEAL = "idem-seal";

    /** Names a letter among others, wherever it stands in its queue. */
    static final String LETTER = "idem-letter";

    /**
     * Never published again: CC would send further copies to others, and what the broker wrote about earlier deaths would
     * let it take a retry for a loop and drop it.
     */
    private static final Set<String> NOT_COPIED = Set.of(
            "CC",
            "BCC",
            "x-death",
            "x-first-death-exchange",
            "x-first-death-queue",
            "x-first-death-reason",
            "x-last-death-exchange",
            "x-last-death-queue",
            "x-last-death-reason",
            "x-delivery-count",
            "x-stream-offset",
            "x-acquired-count");

    private Tables() {}

    static List<Header> headers(BasicProperties properties) {
        List<Header> headers = new ArrayList<>();
        table(properties).forEach((name, value) -> {
            if (value instanceof Collection<?> elements) {
                elements.forEach(element -> headers.add(new Header(name, bytes(element))));
            } else {
                headers.add(new Header(name, bytes(value)));
            }
        });
        return headers;
    }

    /** Whether one of our own copies may be this; the seal proves it. */
    static boolean isSealed(BasicProperties properties) {
        return table(properties).containsKey(SEAL);
    }

    /**
     * The headers as a table, in which those that the original table has keep its types.
     *
     * @param kept names of headers that are as they were
     */
    static Map<String, @Nullable Object> table(BasicProperties original, List<Header> headers, Set<String> kept) {
        Map<String, @Nullable Object> table = new LinkedHashMap<>();
        table(original).forEach((name, value) -> {
            if (kept.contains(name) && !NOT_COPIED.contains(name)) {
                table.put(name, value);
            }
        });
        headers.stream()
                .filter(header -> !kept.contains(header.name()))
                .collect(Collectors.groupingBy(Header::name, LinkedHashMap::new, Collectors.toList()))
                .forEach((name, values) -> table.put(name, value(values)));
        return table;
    }

    /** A copy for another queue: persistent, without a time to live of its own, and from us and not from its first sender. */
    static BasicProperties copy(BasicProperties original, Map<String, @Nullable Object> headers) {
        // The broker refuses a user id that is not the connection's.
        return original.builder()
                .headers(headers)
                .deliveryMode(2)
                .expiration(null)
                .userId(null)
                .build();
    }

    /** A list for a name that stands more than once. */
    private static Object value(List<Header> same) {
        return same.size() == 1
                ? same.get(0).text()
                : same.stream().map(Header::text).toList();
    }

    private static Map<String, @Nullable Object> table(BasicProperties properties) {
        Map<String, @Nullable Object> headers = properties.getHeaders();
        return headers == null ? Map.of() : headers;
    }

    private static byte[] bytes(@Nullable Object value) {
        if (value instanceof LongString text) {
            return text.getBytes();
        }
        return value instanceof byte[] binary ? binary : text(value).getBytes(StandardCharsets.UTF_8);
    }

    private static String text(@Nullable Object value) {
        if (value instanceof Date time) {
            return time.toInstant().toString();
        }
        return Objects.toString(value, "");
    }
}
