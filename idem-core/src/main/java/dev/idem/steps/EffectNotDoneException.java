package dev.idem.steps;

import dev.idem.RetryableException;
import org.jspecify.annotations.Nullable;

/**
 * An {@link EffectCall} throws this to say: surely nothing was done. The connection was refused, say, or the provider
 * answered that it is too busy. The intent is taken back, and the next run calls again. Never for a timeout, nor for a
 * connection that was lost: the call may have arrived. What a provider declines for good is an answer; return it.
 */
public class EffectNotDoneException extends RetryableException {
    private static final long serialVersionUID = 1L;

    public EffectNotDoneException(String message) {
        this(message, null);
    }

    public EffectNotDoneException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** With the text of its cause. */
    public EffectNotDoneException(Throwable cause) {
        this(cause.toString(), cause);
    }
}
