package dev.idem;

import org.jspecify.annotations.Nullable;

/** The store could not answer; nothing was acknowledged. Let the broker deliver the message again. */
public class StoreException extends IdemException {
    private static final long serialVersionUID = 1L;

    public StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
