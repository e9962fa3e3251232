package dev.idem;

import org.jspecify.annotations.Nullable;

/**
 * The database refused what the handler did: at the commit, for example by a deferred constraint; or by ending its
 * connection whenever it runs. Nothing of the unit is left.
 */
public class CommitRefusedException extends IdemException {
    private static final long serialVersionUID = 1L;

    public CommitRefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
