/** Runs handlers with steps, each step in a transaction of its own, and the effects they make. */
@NullMarked
package dev.idem.internal.steps;

import org.jspecify.annotations.NullMarked;
