package dev.idem;

import org.jspecify.annotations.Nullable;

/**
 * A handler asked the inbox to process a message inside its own unit, or anybody inside an open transaction, without joining
 * it. Always a programming error.
 */
public class NestedProcessingException extends IdemException {
    private static final long serialVersionUID = 1L;

    public NestedProcessingException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
