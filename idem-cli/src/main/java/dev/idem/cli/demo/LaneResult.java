package dev.idem.cli.demo;

/**
 * What the broker saw of one consumer.
 *
 * @param redeliveries how many of the deliveries repeated one that was not acknowledged
 * @param duplicatesSkipped how many deliveries the consumer said to have recognised
 * @param failures how many charges failed as the plan wants it
 */
record LaneResult(
        long deliveries, long redeliveries, int duplicatesSkipped, int kills, int deadLettered, int failures) {}
