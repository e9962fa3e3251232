package dev.idem;

import java.util.List;

/** A handler threw because the database undid its transaction. */
final class UndoneByStore extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Throwable failure;
    private final transient List<BatchEntry<?>> culprits;

    UndoneByStore(Throwable failure, List<BatchEntry<?>> culprits) {
        super(failure);
        this.failure = failure;
        this.culprits = culprits;
    }

    /** In whose handler it happened, when it happened in a batch. */
    List<BatchEntry<?>> culprits() {
        return culprits;
    }

    Throwable failure() {
        return failure;
    }
}
