package dev.idem.cli;

import org.jspecify.annotations.Nullable;

/** Ends a command with one line for the user: what could not be done, and what to try. */
public final class CliException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CliException(String problem, String action, @Nullable Throwable cause) {
        super(problem + ". " + action, cause);
    }
}
