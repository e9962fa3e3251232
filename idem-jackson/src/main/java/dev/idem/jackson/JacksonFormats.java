package dev.idem.jackson;

import dev.idem.broker.EventFormats;
import dev.idem.broker.StructuredEvents;

/** What {@link dev.idem.broker.Attributes} finds by itself when this module is there. Thread-safe. */
public final class JacksonFormats implements EventFormats {
    /** For {@link java.util.ServiceLoader}. */
    public JacksonFormats() {}

    @Override
    public StructuredEvents cloudEvents() {
        return JacksonEvents.create();
    }

    @Override
    public StructuredEvents massTransit() {
        return MassTransitEnvelopes.create();
    }
}
