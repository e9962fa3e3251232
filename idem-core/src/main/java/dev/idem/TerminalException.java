package dev.idem;

import org.jspecify.annotations.Nullable;

/** A handler throws this to say: delivering this message again would not help. It goes to the dead letters. */
public class TerminalException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public TerminalException(String message) {
        this(message, null);
    }

    public TerminalException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** With the text of its cause. */
    public TerminalException(Throwable cause) {
        this(cause.toString(), cause);
    }
}
