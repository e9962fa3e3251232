/**
 * What users of listeners meet: where a message's attributes come from, the state of a listener, what it waits for, and dead
 * letters: what is told about one, and how it is sent again. Those who write an adapter find its parts in
 * {@code dev.idem.broker.spi}.
 */
@NullMarked
package dev.idem.broker;

import org.jspecify.annotations.NullMarked;
