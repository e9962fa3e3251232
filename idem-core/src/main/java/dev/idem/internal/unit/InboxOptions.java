package dev.idem.internal.unit;

import dev.idem.InboxListener;
import dev.idem.spi.FaultHook;
import dev.idem.spi.MarkerStore;
import java.time.Duration;
import java.util.List;

/** What an inbox was given by its builder. */
public record InboxOptions(
        MarkerStore store, List<InboxListener> listeners, FaultHook steps, int concurrency, Duration drain) {
    public InboxOptions {
        listeners = List.copyOf(listeners);
    }
}
