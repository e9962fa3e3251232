/**
 * Stored messages: how they are received, taken, ordered by key or stream, moved, completed and published, their steps
 * and effects, and how workers hear of them.
 */
@NullMarked
package dev.idem.jdbc.internal.queue;

import org.jspecify.annotations.NullMarked;
