/**
 * What the adapters of all brokers share: where a message's attributes come from, how deliveries are worked on side by
 * side without losing their order, what is told about a dead letter, and how one is sent again. An adapter turns its
 * deliveries into messages, gives them to {@link dev.idem.broker.Lanes}, and obeys what they say.
 *
 * <p>Users meet {@link dev.idem.broker.Attributes}, {@link dev.idem.broker.ListenerState} and
 * {@link dev.idem.broker.DeadLetters}; the rest is for those who write an adapter.
 */
@NullMarked
package dev.idem.broker;

import org.jspecify.annotations.NullMarked;
