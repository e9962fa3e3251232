/** {@code idem bench}: measures what a message costs beside every peer, on a real PostgreSQL with durable commits. */
@NullMarked
package dev.idem.bench;

import org.jspecify.annotations.NullMarked;
