package dev.idem;

import org.jspecify.annotations.Nullable;

/** The database refused the commit, for example because of a deferred constraint. Nothing of the unit is left. */
public class CommitRefusedException extends IdemException {
    private static final long serialVersionUID = 1L;

    public CommitRefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
