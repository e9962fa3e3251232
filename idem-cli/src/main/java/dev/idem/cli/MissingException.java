package dev.idem.cli;

import org.jspecify.annotations.Nullable;

/** Ends a command because what was named is not there: {@link ExitCodes#CHECK_FAILED}, with one line that says so. */
public final class MissingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public MissingException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
