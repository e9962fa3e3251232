/**
 * What an adapter of a broker is made of: lanes that work on deliveries side by side without losing their order, the
 * decision what becomes of each delivery, and the parts that all listeners share. An adapter turns its deliveries into messages,
 * gives them to {@link dev.idem.broker.spi.KeyedExecutor}, and obeys what they say.
 */
@NullMarked
package dev.idem.broker.spi;

import org.jspecify.annotations.NullMarked;
