package dev.idem.internal.batch;

/** A handler of several messages failed, and the transaction is lost: nobody can try them apart in it any more. */
final class Inseparable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Throwable failure;

    Inseparable(Throwable failure) {
        super(failure);
        this.failure = failure;
    }

    Throwable failure() {
        return failure;
    }
}
