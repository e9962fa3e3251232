/**
 * Listens to RabbitMQ queues over AMQP 0-9-1. {@link dev.idem.rabbitmq.RabbitInbox} is where to begin. Its words: a
 * <em>generation</em> is one connection of a listener with its deliveries; a <em>postponed</em> message was handed to a retry
 * queue, from which the broker brings it back.
 */
@NullMarked
package dev.idem.rabbitmq;

import org.jspecify.annotations.NullMarked;
