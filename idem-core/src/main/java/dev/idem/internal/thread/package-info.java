/** Threads that survive what they run, pauses, and permits. */
@NullMarked
package dev.idem.internal.thread;

import org.jspecify.annotations.NullMarked;
