/** Replay sessions as rows, and the messages they read again. */
@NullMarked
package dev.idem.jdbc.internal.replay;

import org.jspecify.annotations.NullMarked;
