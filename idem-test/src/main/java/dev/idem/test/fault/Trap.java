package dev.idem.test.fault;

import org.jspecify.annotations.Nullable;

/** Waits for a byte at which to cut. Guarded by its lane. */
sealed interface Trap permits ByteTrap, PatternTrap {
    /** What to do if this chunk contains the byte; null if it does not. */
    @Nullable
    Verdict spring(Link link, byte[] chunk, int length);
}
