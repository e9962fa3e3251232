/** The threads that take stored messages: how many, how long they lease, and what happens when one is stuck. */
@NullMarked
package dev.idem.internal.worker;

import org.jspecify.annotations.NullMarked;
