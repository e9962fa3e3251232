package dev.idem;

import org.jspecify.annotations.Nullable;

/**
 * The handler broke the transaction it was given: it swallowed an SQL error, committed, rolled back or ran DDL. The
 * message is not acknowledged. The text says whether anything may be left in the database, and what to do.
 */
public class BrokenTransactionException extends IdemException {
    private static final long serialVersionUID = 1L;

    private final boolean leftBehind;

    public BrokenTransactionException(String message, boolean leftBehind, @Nullable Throwable cause) {
        super(message, cause);
        this.leftBehind = leftBehind;
    }

    /** True when a part of the work was committed behind Idem's back, so that running the handler again may double it. */
    public boolean leftBehind() {
        return leftBehind;
    }
}
