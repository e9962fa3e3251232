package dev.idem;

import dev.idem.spi.MarkerStore;

/** Sorts what was thrown by whose fault it is. */
final class Failures {
    private Failures() {}

    static Failure kindOf(Throwable failure, Policy policy, MarkerStore store) {
        if (failure instanceof BrokenTransactionException broken) {
            // Running it again could double what was left behind, so a person decides.
            return broken.leftBehind() ? Failure.TERMINAL : Failure.RETRYABLE;
        }
        if (failure instanceof StoreException
                || failure instanceof InterruptedException
                || store.isTransient(failure)) {
            return Failure.INFRASTRUCTURE;
        }
        return policy.classify(failure);
    }

    /** Restores an interrupt and lets errors pass after which this process should not go on. */
    static Throwable unlessFatal(Throwable failure) {
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        boolean fatal = failure instanceof ThreadDeath
                || (failure instanceof VirtualMachineError && !(failure instanceof StackOverflowError));
        if (fatal) {
            throw (Error) failure;
        }
        return failure;
    }

    /** Throws anything as if it were declared, so that a handler's exception passes through untouched. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    static <X extends Throwable> X asDeclared(Throwable failure) throws X {
        throw (X) failure;
    }
}
