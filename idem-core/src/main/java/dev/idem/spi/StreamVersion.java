package dev.idem.spi;

import java.util.Objects;

/**
 * Where a message stands in the sequence of its stream.
 *
 * @param version 0 or more
 */
public record StreamVersion(String stream, long version) {
    public StreamVersion {
        Objects.requireNonNull(stream, "stream");
        if (version < 0) {
            throw new IllegalArgumentException("the version is " + version + ", but must not be negative");
        }
    }
}
