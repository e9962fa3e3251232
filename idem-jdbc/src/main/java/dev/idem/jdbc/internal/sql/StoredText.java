package dev.idem.jdbc.internal.sql;

import org.jspecify.annotations.Nullable;

/** Texts for people and filters, as the tables store them; where the exact text matters, it is stored beside. */
public final class StoredText {
    private StoredText() {}

    /** Without the character that PostgreSQL does not store. */
    public static String storable(String text) {
        return text.replace('\0', '\uFFFD');
    }

    public static @Nullable String storableOrNull(@Nullable String text) {
        return text == null ? null : storable(text);
    }
}
