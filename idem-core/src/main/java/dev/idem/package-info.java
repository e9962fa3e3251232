/**
 * What users type. The words, the same in code, columns, metrics, logs and docs:
 *
 * <ul>
 *   <li><b>message</b> what arrives; <b>source</b> who made it, never the transport it came over
 *   <li><b>consumer</b> a named scope of effects; part of every key
 *   <li><b>key</b> what makes two deliveries the same message for a consumer
 *   <li><b>marker</b> the durable record that a consumer is done with a key
 *   <li><b>claim</b> the exclusive right to run the handler for a key
 *   <li><b>unit</b> one transaction: claim, handler, confirm, commit
 *   <li><b>outcome</b> what became of one delivery; <b>settlement</b> what the broker must be told
 * </ul>
 */
@NullMarked
package dev.idem;

import org.jspecify.annotations.NullMarked;
