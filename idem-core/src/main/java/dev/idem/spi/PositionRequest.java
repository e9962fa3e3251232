package dev.idem.spi;

import dev.idem.Position;
import java.time.Duration;

/**
 * What a store needs to claim the next position of a partition.
 *
 * @param key names the message in texts and answers; nothing is stored under it
 * @param busyWait how long to wait for another delivery from the same partition that is running elsewhere
 */
public record PositionRequest(MarkerKey key, Position position, Duration busyWait) {}
