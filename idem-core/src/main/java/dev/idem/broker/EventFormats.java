package dev.idem.broker;

/**
 * Readers of what producers wrap their messages in. The core has no parser: {@code idem-jackson} brings these, and they are found by
 * {@link java.util.ServiceLoader} when it is there. Implementations have a public constructor without parameters.
 */
public interface EventFormats {
    /** CloudEvents in structured mode. */
    StructuredEvents cloudEvents();

    /** The envelope of MassTransit. */
    StructuredEvents massTransit();
}
