package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Hashes;
import dev.idem.jdbc.internal.sql.Tables;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The channel on which the instances that share a set of tables wake each other: two sets in one database have two. A name
 * that PostgreSQL takes without quotes, of at most 63 characters.
 */
record Channel(String name) {
    private static final Pattern GRAMMAR = Pattern.compile("[a-z_][a-z0-9_$]{0,62}");

    Channel {
        if (!GRAMMAR.matcher(name).matches()) {
            throw new IllegalArgumentException("Not a channel: " + name);
        }
    }

    static Channel of(Tables tables) {
        String readable = tables.schemaName() + "$" + tables.prefix();
        return GRAMMAR.matcher(readable).matches() ? new Channel(readable) : of(Hashes.uuid(readable));
    }

    /** One that nobody else has. */
    static Channel random() {
        return of(UUID.randomUUID());
    }

    private static Channel of(UUID id) {
        return new Channel("idem$" + id.toString().replace('-', '$'));
    }

    @Override
    public String toString() {
        return name;
    }
}
