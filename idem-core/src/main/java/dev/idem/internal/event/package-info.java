/** Listeners, incidents and counters: what is told of a delivery, none of which can change its outcome. */
@NullMarked
package dev.idem.internal.event;

import org.jspecify.annotations.NullMarked;
