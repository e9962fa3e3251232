package dev.idem;

import java.nio.charset.StandardCharsets;

/**
 * Keeps a handler's result beside its marker, so that a duplicate is answered with the first result. Thread-safe.
 *
 * @param <T> the result; a null result is not stored
 */
public interface ResultCodec<T> {
    /** A short stable name, stored with the bytes; a result stored under another name is not decoded. */
    String name();

    byte[] encode(T result) throws Exception;

    T decode(byte[] bytes) throws Exception;

    /** Strings as UTF-8. */
    static ResultCodec<String> text() {
        return new ResultCodec<>() {
            @Override
            public String name() {
                return "text";
            }

            @Override
            public byte[] encode(String result) {
                return result.getBytes(StandardCharsets.UTF_8);
            }

            @Override
            public String decode(byte[] bytes) {
                return new String(bytes, StandardCharsets.UTF_8);
            }
        };
    }
}
