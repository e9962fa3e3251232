package dev.idem;

import java.util.Objects;

/**
 * Where the transport keeps a message.
 *
 * @param stream the identity of the stream, including what changes when it is deleted and made again (cluster and topic
 *     id for Kafka): positions of a recreated stream start again, and must not look like the old ones
 */
public record Position(String stream, int partition, long offset) {
    public Position {
        Objects.requireNonNull(stream, "stream");
    }
}
