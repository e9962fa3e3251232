package dev.idem;

import java.io.ByteArrayOutputStream;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads CloudEvents attributes in binary mode. HTTP values are percent-decoded, as that binding demands. */
final class CloudEventHeaders {
    private static final String HTTP = "ce-";
    private static final List<String> PREFIXES = List.of("ce_", HTTP, "cloudEvents:", "cloudEvents_");

    private final List<Header> headers;

    CloudEventHeaders(List<Header> headers) {
        this.headers = headers;
    }

    /** The attribute's text; null when it is absent, repeated or not UTF-8. */
    @Nullable
    String attribute(String name) {
        List<Header> found = headers.stream()
                .filter(h -> PREFIXES.stream().anyMatch(p -> isNamed(h, p, name)))
                .toList();
        if (found.size() != 1) {
            return null;
        }
        Header only = found.get(0);
        byte[] value = only.name().toLowerCase(Locale.ROOT).startsWith(HTTP) ? percentDecoded(only) : only.rawValue();
        return Text.strictUtf8(value).orElse(null);
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

    /** HTTP header names are case-insensitive; the others are exact. */
    private static boolean isNamed(Header header, String prefix, String attribute) {
        String name = prefix + attribute;
        return prefix.equals(HTTP)
                ? header.name().equalsIgnoreCase(name)
                : header.name().equals(name);
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
