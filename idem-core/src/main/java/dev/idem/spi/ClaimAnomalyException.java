package dev.idem.spi;

import dev.idem.StoreException;
import org.jspecify.annotations.Nullable;

/** The claim was neither granted nor explained by a marker: a trigger, a policy or another index is in the way. */
public class ClaimAnomalyException extends StoreException {
    private static final long serialVersionUID = 1L;

    public ClaimAnomalyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
