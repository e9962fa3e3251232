package dev.idem.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a consumer's history is kept.
 *
 * @param window how long markers are kept at least, or null for ever
 * @param resultWindow how long stored results are kept at least; not longer than the window
 */
public record Retention(@Nullable Duration window, Duration resultWindow) {}
