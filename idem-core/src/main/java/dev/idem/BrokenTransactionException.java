package dev.idem;

import dev.idem.spi.MarkerKey;
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

    /** The handler ended its transaction itself, so that its marker and a part of its work are committed. */
    public static BrokenTransactionException hiddenCommit(MarkerKey key, @Nullable Throwable evidence) {
        return new BrokenTransactionException(
                "The handler of " + key + " committed its transaction behind Idem's back (COMMIT, DDL or a procedure):"
                        + " its marker and a part of its work stay. Complete the work by hand; or undo it, delete the"
                        + " marker (see docs/guide.md) and deliver the message again",
                true,
                evidence);
    }

    /** True when a part of the work was committed behind Idem's back, so that running the handler again may double it. */
    public boolean leftBehind() {
        return leftBehind;
    }
}
