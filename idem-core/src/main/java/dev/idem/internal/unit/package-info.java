/**
 * One message, one transaction: claim, handler, confirm, commit; deadlines, failures, and what is concluded from a marker.
 */
@NullMarked
package dev.idem.internal.unit;

import org.jspecify.annotations.NullMarked;
