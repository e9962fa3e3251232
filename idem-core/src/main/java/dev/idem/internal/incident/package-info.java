/**
 * What a person must hear about messages that are not simply done: one line for each incident, in one form, not too many of
 * them, and nothing of a message but its id. Depends on nothing; everything that settles messages tells it here.
 */
@NullMarked
package dev.idem.internal.incident;

import org.jspecify.annotations.NullMarked;
