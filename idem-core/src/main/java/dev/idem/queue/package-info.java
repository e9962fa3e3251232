/**
 * Messages that are stored before they are handled: the policy of a queue, its numbers, and the outbox, which is a queue towards a broker.
 */
@NullMarked
package dev.idem.queue;

import org.jspecify.annotations.NullMarked;
