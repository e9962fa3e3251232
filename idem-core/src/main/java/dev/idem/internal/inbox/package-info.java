/** Puts everything together: the one implementation of {@link dev.idem.Inbox}. */
@NullMarked
package dev.idem.internal.inbox;

import org.jspecify.annotations.NullMarked;
