package dev.idem.bench;

import java.time.Duration;

/**
 * How thorough a run is.
 *
 * @param quick smaller tables and fewer cases
 * @param time how long each measurement lasts
 */
record Settings(boolean quick, int rounds, Duration time) {
    /** The compiler optimises what has run some ten thousand times; who brings more code needs as many messages for it. */
    Duration warmUp() {
        return quick ? Duration.ofMillis(400) : time.multipliedBy(12);
    }
}
