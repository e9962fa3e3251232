/**
 * Streams of versions: each version is applied once, behind the one before it; what is ahead waits for its gap to close.
 */
@NullMarked
package dev.idem.sequence;

import org.jspecify.annotations.NullMarked;
