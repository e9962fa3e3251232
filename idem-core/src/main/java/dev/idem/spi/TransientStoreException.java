package dev.idem.spi;

import dev.idem.StoreException;
import org.jspecify.annotations.Nullable;

/** The unit surely did not commit, for a reason that passes: deadlock, serialization, connection lost before commit. */
public class TransientStoreException extends StoreException {
    private static final long serialVersionUID = 1L;

    public TransientStoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
