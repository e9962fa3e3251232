package dev.idem.internal.batch;

import java.util.List;

/** A handler of a batch threw because the database undid their transaction. */
final class UndoneBatch extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Throwable failure;
    private final transient List<BatchEntry<?>> culprits;

    UndoneBatch(Throwable failure, List<BatchEntry<?>> culprits) {
        super(failure);
        this.failure = failure;
        this.culprits = culprits;
    }

    /** In whose handler it may have happened. */
    List<BatchEntry<?>> culprits() {
        return culprits;
    }

    Throwable failure() {
        return failure;
    }
}
