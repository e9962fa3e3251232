/** Stored messages: receiving them, running them in batches, what becomes of each, and gaps whose deadline is over. */
@NullMarked
package dev.idem.internal.queue;

import org.jspecify.annotations.NullMarked;
