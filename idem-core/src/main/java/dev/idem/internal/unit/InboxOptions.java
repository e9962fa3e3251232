package dev.idem.internal.unit;

import dev.idem.spi.MarkerStore;
import dev.idem.spi.FaultHook;
import java.time.Duration;
import java.util.List;
import dev.idem.InboxListener;

/** What an inbox was given by its builder. */
public record InboxOptions(
        MarkerStore store, List<InboxListener> listeners, FaultHook steps, int concurrency, Duration drain) {
    public InboxOptions {
        listeners = List.copyOf(listeners);
    }
}
