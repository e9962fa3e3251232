package dev.idem.bench;

import java.time.Duration;

/**
 * How thorough a run is.
 *
 * @param quick smaller tables and fewer cases
 * @param time how long each measurement lasts
 */
record Settings(boolean quick, int rounds, Duration time) {
    Duration warmUp() {
        return quick ? Duration.ofMillis(400) : time.multipliedBy(4);
    }
}
