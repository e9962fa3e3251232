/** The thread that runs replay sessions, and the counts of a dry run. */
@NullMarked
package dev.idem.internal.replay;

import org.jspecify.annotations.NullMarked;
