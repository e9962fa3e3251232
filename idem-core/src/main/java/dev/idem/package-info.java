/**
 * What users type. The words, the same in code, columns, metrics, logs and docs:
 *
 * <ul>
 *   <li><b>message</b> what arrives; <b>source</b> who made it, never the transport it came over
 *   <li><b>consumer</b> a named scope of effects; part of every key
 *   <li><b>key</b> what makes two deliveries the same message for a consumer
 *   <li><b>marker</b> the durable record that a consumer is done with a key
 *   <li><b>claim</b> the exclusive right to run the handler for a key
 *   <li><b>lease</b> a claim that outlives a transaction, with an expiry and a <b>fence</b>, a number that grows with every
 *       claim
 *   <li><b>unit</b> one transaction: claim, handler, confirm, commit
 *   <li><b>outcome</b> what became of one delivery; <b>settlement</b> what the broker must be told
 *   <li><b>park</b> set aside until a person decides
 *   <li><b>effect</b> something outside the database; <b>step</b> work inside it that is done once, with a name
 *   <li><b>replay</b> a named, audited session of deliberate redelivery
 *   <li><b>window</b> how long duplicates are recognised; <b>horizon</b> the oldest message that can still be judged
 * </ul>
 */
@NullMarked
package dev.idem;

import org.jspecify.annotations.NullMarked;
