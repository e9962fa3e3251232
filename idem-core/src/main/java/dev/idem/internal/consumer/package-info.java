/** A consumer resolved: its keys, routes, order and sequence, its replay sessions, and what the store is told of it. */
@NullMarked
package dev.idem.internal.consumer;

import org.jspecify.annotations.NullMarked;
