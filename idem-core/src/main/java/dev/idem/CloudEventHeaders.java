package dev.idem;

import dev.idem.internal.text.Text;
import java.io.ByteArrayOutputStream;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads CloudEvents attributes in binary mode. HTTP values are percent-decoded, as that binding demands. */
final class CloudEventHeaders {
    private static final String HTTP = "ce-";
    private static final String KAFKA = "ce_";
    private static final String AMQP = "cloudEvents";

    private final Map<String, Header> attributes = new HashMap<>();
    private final Set<String> repeated = new HashSet<>();
    private final List<Header> headers;

    /** One look at each header, because every message passes here. */
    CloudEventHeaders(List<Header> headers) {
        this.headers = headers;
        for (Header header : headers) {
            String attribute = attributeOf(header.name());
            if (attribute != null && attributes.putIfAbsent(attribute, header) != null) {
                repeated.add(attribute);
            }
        }
    }

    /** Which attribute a header of that name has; null for any other header. HTTP's names may be in any case. */
    private static @Nullable String attributeOf(String name) {
        if (name.startsWith(KAFKA)) {
            return name.substring(KAFKA.length());
        }
        if (name.regionMatches(true, 0, HTTP, 0, HTTP.length())) {
            return name.substring(HTTP.length()).toLowerCase(Locale.ROOT);
        }
        boolean amqp = name.startsWith(AMQP + ":") || name.startsWith(AMQP + "_");
        return amqp ? name.substring(AMQP.length() + 1) : null;
    }

    /** The attribute's text; null when it is absent, repeated or not UTF-8. */
    @Nullable
    String attribute(String name) {
        Header only = attributes.get(name);
        if (only == null || repeated.contains(name)) {
            return null;
        }
        boolean http = only.name().regionMatches(true, 0, HTTP, 0, HTTP.length());
        return Text.strictUtf8(http ? percentDecoded(only) : only.rawValue()).orElse(null);
    }

    @Nullable
    Instant time() {
        String time = attribute("time");
        try {
            return time == null ? null : OffsetDateTime.parse(time).toInstant();
        } catch (DateTimeException malformed) {
            return null;
        }
    }

    @Nullable
    String contentType() {
        List<Header> found = headers.stream()
                .filter(h -> h.name().equalsIgnoreCase("content-type"))
                .toList();
        return found.size() == 1 ? Text.strictUtf8(found.get(0).rawValue()).orElse(null) : null;
    }

    private static byte[] percentDecoded(Header header) {
        byte[] in = header.rawValue();
        ByteArrayOutputStream out = new ByteArrayOutputStream(in.length);
        for (int i = 0; i < in.length; i++) {
            int decoded = in[i] == '%' && i + 2 < in.length ? hex(in[i + 1], in[i + 2]) : -1;
            if (decoded >= 0) {
                out.write(decoded);
                i += 2;
            } else {
                out.write(in[i]);
            }
        }
        return out.toByteArray();
    }

    private static int hex(byte high, byte low) {
        int h = Character.digit(high, 16);
        int l = Character.digit(low, 16);
        return h < 0 || l < 0 ? -1 : h * 16 + l;
    }
}
