package dev.idem.rabbitmq;

import dev.idem.broker.ListenerState;

/**
 * How a listener is.
 *
 * @param unsettled deliveries of this generation that are not acknowledged yet
 * @param redelivered how many deliveries the broker has called redelivered since the start; a number to look at, which
 *     decides nothing: it is true for messages that nobody has seen, and false for copies
 * @param generation how often it has connected
 */
public record RabbitStatus(
        ListenerState state, String queue, int prefetch, int unsettled, long redelivered, long generation) {}
