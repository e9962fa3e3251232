package dev.idem.spi;

import dev.idem.StoreException;

/**
 * The store has no place for a key yet, because of the time in it: see {@link Claim.Unplaced}. Its text is for people, who are shown
 * it while the message waits: it may name the key, and nothing else of the message.
 */
public final class UnplacedException extends StoreException {
    private static final long serialVersionUID = 1L;

    public UnplacedException(String message) {
        super(message, null);
    }
}
