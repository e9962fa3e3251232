package dev.idem.internal.unit;

import dev.idem.BrokenTransactionException;
import dev.idem.CommitRefusedException;
import dev.idem.Failure;
import dev.idem.HandlerTimeoutException;
import dev.idem.Policy;
import dev.idem.StoreException;
import dev.idem.internal.event.Events;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.steps.EffectBusyException;
import dev.idem.steps.EffectUnknownException;

/** Sorts what was thrown by whose fault it is. */
public final class Failures {
    private Failures() {}

    public static Failure kindOf(Throwable failure, Policy policy, MarkerStore store) {
        return kindOf(failure, policy, store, false);
    }

    /** The same for what ended a delivery: what its handler brought from elsewhere says nothing about this store. */
    public static Failure kindOf(Throwable failure, Delivery<?, ?> attempt, MarkerStore store) {
        return kindOf(failure, attempt.policy(), store, attempt.isOfHandler(failure));
    }

    private static Failure kindOf(Throwable failure, Policy policy, MarkerStore store, boolean ofHandler) {
        if (failure instanceof BrokenTransactionException broken) {
            // Running it again could double what was left behind, so a person decides.
            return broken.leftBehind() ? Failure.TERMINAL : Failure.RETRYABLE;
        }
        if (failure instanceof EffectUnknownException unknown) {
            return unknown.parks() ? Failure.TERMINAL : Failure.RETRYABLE;
        }
        if (failure instanceof HandlerTimeoutException) {
            return policy.classify(failure); // whatever its cause: the connection was lost because it was taken away
        }
        if (ofHandler && !(failure instanceof InterruptedException)) {
            return policy.classify(failure);
        }
        if (store.isOutOfResources(failure)) {
            return Failure.INFRASTRUCTURE;
        }
        if (failure instanceof CommitRefusedException) {
            return policy.classify(failure); // its cause may be a lost connection, of which it was proven guilty
        }
        if (failure instanceof EffectBusyException) {
            return Failure
                    .INFRASTRUCTURE; // nothing has failed: it comes again a little later, and no attempt is counted
        }
        if (failure instanceof StoreException
                || failure instanceof InterruptedException
                || store.isTransient(failure)) {
            return Failure.INFRASTRUCTURE;
        }
        return policy.classify(failure);
    }

    /** Restores an interrupt and lets errors pass after which this process should not go on. */
    public static Throwable unlessFatal(Throwable failure) {
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        throwIfFatal(failure);
        return failure;
    }

    public static void throwIfFatal(Throwable failure) {
        if (isFatal(failure)) {
            throw (Error) failure;
        }
    }

    public static BrokenTransactionException reported(Events events, MarkerKey key, BrokenTransactionException broken) {
        events.tell(l -> l.transactionBroken(key.consumer(), broken));
        return broken;
    }

    /** A broken transaction says more than the failure that uncovered it, unless this process should not go on. */
    static BrokenTransactionException broken(
            Events events, MarkerKey key, BrokenTransactionException broken, Throwable failure) {
        reported(events, key, broken);
        if (isFatal(failure)) {
            suppress(failure, broken);
            throw (Error) failure;
        }
        suppress(broken, failure);
        return broken;
    }

    /** A driver may throw the same instance twice, which {@code addSuppressed} would answer with an exception. */
    public static void suppress(Throwable failure, Throwable secondary) {
        if (failure != secondary) {
            failure.addSuppressed(secondary);
        }
    }

    private static boolean isFatal(Throwable failure) {
        return failure instanceof ThreadDeath
                || (failure instanceof VirtualMachineError && !(failure instanceof StackOverflowError));
    }

    /** Throws anything as if it were declared, so that a handler's exception passes through untouched. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    public static <X extends Throwable> X asDeclared(Throwable failure) throws X {
        throw (X) failure;
    }
}
