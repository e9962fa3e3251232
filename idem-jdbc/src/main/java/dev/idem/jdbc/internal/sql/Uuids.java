package dev.idem.jdbc.internal.sql;

import java.util.Optional;
import java.util.UUID;

/** Recognises ids that stand for themselves. */
public final class Uuids {
    private Uuids() {}

    public static Optional<UUID> canonical(String text) {
        try {
            UUID uuid = UUID.fromString(text);
            return uuid.toString().equals(text) ? Optional.of(uuid) : Optional.empty();
        } catch (IllegalArgumentException other) {
            return Optional.empty();
        }
    }
}
