package dev.idem.kafka;

import java.util.OptionalLong;

/**
 * A partition that a listener has.
 *
 * @param lag how many records are in it that were not fetched yet, if the client knows
 * @param unfinished how many records were fetched and are not settled
 * @param committed the offset that was committed last by this listener; empty before the first
 */
public record PartitionStatus(String topic, int partition, OptionalLong lag, int unfinished, OptionalLong committed) {}
