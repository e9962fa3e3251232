/**
 * Connections: the one a handler may use but not commit, those that libraries open inside of it, those the store keeps
 * for itself, and the transactions around them.
 */
@NullMarked
package dev.idem.jdbc.internal.guard;

import org.jspecify.annotations.NullMarked;
