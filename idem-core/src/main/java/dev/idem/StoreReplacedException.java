package dev.idem;

/**
 * The store is another one, or an older one, than a broker was told of: what was done since is missing in it, and the broker
 * will not deliver it again by itself. A person must decide; the message says what can be done.
 */
public class StoreReplacedException extends IdemException {
    private static final long serialVersionUID = 1L;

    public StoreReplacedException(String message) {
        super(message, null);
    }
}
