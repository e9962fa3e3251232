package dev.idem.sequence;

import java.time.Duration;

/**
 * A stream in which messages wait for a version that was not applied yet.
 *
 * @param current the last version that was applied
 * @param next the lowest version after it that is in the queue
 * @param waiting how many messages are held
 * @param parked how many of the stream are parked
 * @param age how long the oldest of them has waited since it was received
 */
public record Gap(String consumer, String stream, long current, long next, long waiting, long parked, Duration age) {
    /** The first version that is missing. */
    public long missing() {
        return current + 1;
    }

    /** Whether that version has not arrived. If it has, it is still being tried, or parked, and no resolver is asked. */
    public boolean isOpen() {
        return next > missing();
    }
}
