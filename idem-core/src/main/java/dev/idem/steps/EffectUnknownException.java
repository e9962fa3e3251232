package dev.idem.steps;

import dev.idem.IdemException;

/**
 * Nobody knows whether an effect was made, and it may not simply be made again. The message is parked for a person, with the
 * reason {@code EFFECT_UNKNOWN}, or tried again later if its policy asks the provider.
 */
public class EffectUnknownException extends IdemException {
    /** Why such a message is parked. */
    public static final String REASON = "EFFECT_UNKNOWN";

    private static final long serialVersionUID = 1L;

    private final boolean parks;

    public EffectUnknownException(String message, boolean parks) {
        super(message, null);
        this.parks = parks;
    }

    /** Whether another try would not help. */
    public boolean parks() {
        return parks;
    }
}
