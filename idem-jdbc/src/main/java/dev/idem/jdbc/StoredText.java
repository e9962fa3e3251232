package dev.idem.jdbc;

import org.jspecify.annotations.Nullable;

/** Texts for people and filters, as the tables store them; where the exact text matters, it is stored beside. */
final class StoredText {
    private StoredText() {}

    /** Without the character that PostgreSQL does not store. */
    static String storable(String text) {
        return text.replace('\0', '\uFFFD');
    }

    static @Nullable String storableOrNull(@Nullable String text) {
        return text == null ? null : storable(text);
    }
}
