package dev.idem.spi;

import dev.idem.StoreException;
import org.jspecify.annotations.Nullable;

/** The commit was sent and its answer was lost. It may be done, undone, or still running. */
public class CommitUnknownException extends StoreException {
    private static final long serialVersionUID = 1L;

    public CommitUnknownException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
