package dev.idem;

import dev.idem.spi.MarkerStore;
import dev.idem.spi.StepHook;
import java.time.Duration;
import java.util.List;

/** What an inbox was given by its builder. */
record InboxOptions(
        MarkerStore store, List<InboxListener> listeners, StepHook steps, int concurrency, Duration drain) {
    InboxOptions {
        listeners = List.copyOf(listeners);
    }
}
