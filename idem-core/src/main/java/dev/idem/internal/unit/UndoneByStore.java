package dev.idem.internal.unit;

/** A handler threw because the database undid its transaction. */
final class UndoneByStore extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Throwable failure;

    UndoneByStore(Throwable failure) {
        super(failure);
        this.failure = failure;
    }

    Throwable failure() {
        return failure;
    }
}
