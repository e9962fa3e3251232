package dev.idem;

import org.jspecify.annotations.Nullable;

/** The root of what Idem itself throws: the question "what became of this delivery?" could not be answered. */
public class IdemException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public IdemException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
