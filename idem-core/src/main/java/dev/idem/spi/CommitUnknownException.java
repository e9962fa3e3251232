package dev.idem.spi;

import dev.idem.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * The commit was sent, and nobody knows what became of it: it may be done, undone, or still running. Claiming again tells.
 */
public class CommitUnknownException extends StoreException {
    private static final long serialVersionUID = 1L;

    private final boolean answered;

    /** The answer was lost, and with it the connection. */
    public CommitUnknownException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    /**
     * @param answered whether the database answered, with an error of which nobody knows whether it means a rollback. Then
     *     one claim that is granted afterwards proves that the commit was refused, and running again would not help.
     */
    public CommitUnknownException(String message, @Nullable Throwable cause, boolean answered) {
        super(message, cause);
        this.answered = answered;
    }

    public boolean answered() {
        return answered;
    }
}
