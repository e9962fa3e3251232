package dev.idem;

import org.jspecify.annotations.Nullable;

/** The handler ran longer than it may. Its connection was revoked and its transaction rolled back. */
public class HandlerTimeoutException extends IdemException {
    private static final long serialVersionUID = 1L;

    public HandlerTimeoutException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
