package dev.idem.broker;

import dev.idem.Message;

/**
 * Reads events in CloudEvents' structured mode, where the attributes stand in the payload. Needs a parser, so there is an
 * implementation in {@code idem-jackson} and none here.
 */
public interface StructuredEvents {

    /** Whether this content type says that the payload is such an event. */
    boolean understands(String contentType);

    /**
     * The message with the event's attributes and data in place of the payload; headers and what else it has stay.
     *
     * @throws IllegalArgumentException if the payload is not such an event: then the message has no id, and the policy
     *     for missing keys decides
     */
    Message read(Message message);
}
