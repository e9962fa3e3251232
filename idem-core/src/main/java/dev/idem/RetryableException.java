package dev.idem;

import org.jspecify.annotations.Nullable;

/** A handler throws this to say: deliver this message again later, even if its cause is declared terminal. */
public class RetryableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public RetryableException(String message) {
        this(message, null);
    }

    public RetryableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** With the text of its cause. */
    public RetryableException(Throwable cause) {
        this(cause.toString(), cause);
    }
}
