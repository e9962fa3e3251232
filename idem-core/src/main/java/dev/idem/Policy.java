package dev.idem;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/**
 * How a consumer treats what is not the ordinary case. Immutable; every field has a working default.
 *
 * @param missingKey what to do with a message that has no usable key; default {@code REJECT}
 * @param unknownType what to do with a type no handler is registered for; default {@code REJECT}
 * @param unusedTransaction what to do when a handler sends nothing through its transaction, because then its effects are
 *     somewhere else and unprotected; default {@code WARN}
 * @param busyWait how long a delivery waits for another one of the same key that is running now, before it is {@code
 *     Busy}; default 2 s. Databases may round it up to a second. Raise it when handlers are slow and redelivery is dear
 * @param handlerTimeout how long a handler may run before its connection is revoked; default 1 min
 * @param maxRuns how often a unit is run in one delivery when deadlocks or lost connections undo it; default 5; 1 for
 *     handlers that must not be called twice in one delivery
 * @param fingerprint what must be equal when the key is; default the payload
 * @param terminal exceptions after which delivering again would not help; default only {@link TerminalException}
 */
public record Policy(
        MissingKey missingKey,
        UnknownType unknownType,
        UnusedTransaction unusedTransaction,
        Duration busyWait,
        Duration handlerTimeout,
        int maxRuns,
        Fingerprint fingerprint,
        Set<Class<? extends Throwable>> terminal) {

    /** What to do with a message that has no usable key. */
    public enum MissingKey {
        REJECT,
        /** Run the handler all the same; its duplicates are not recognised. Counted. */
        PROCESS_UNGUARDED
    }

    /** What to do with a type that no handler is registered for. */
    public enum UnknownType {
        REJECT,
        /** Acknowledge and forget it: {@link Outcome.Suppressed}. */
        IGNORE
    }

    /** What to do when a handler sends nothing through its transaction. */
    public enum UnusedTransaction {
        /** Log it once for each consumer, and tell the listeners each time. */
        WARN,
        /** Undo it: {@link BrokenTransactionException}. For consumers whose effects must all be in the database. */
        REFUSE,
        ALLOW
    }

    public Policy {
        Objects.requireNonNull(missingKey, "missingKey");
        Objects.requireNonNull(unknownType, "unknownType");
        Objects.requireNonNull(unusedTransaction, "unusedTransaction");
        Objects.requireNonNull(fingerprint, "fingerprint");
        terminal = Set.copyOf(terminal);
        if (busyWait.isNegative()) {
            throw new IllegalArgumentException("busyWait is " + busyWait + ", but must not be negative");
        }
        if (handlerTimeout.isNegative() || handlerTimeout.isZero()) {
            throw new IllegalArgumentException("handlerTimeout is " + handlerTimeout + ", but must be positive");
        }
        if (maxRuns < 1) {
            throw new IllegalArgumentException("maxRuns is " + maxRuns + ", but must be at least 1");
        }
    }

    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

    private static final Policy DEFAULTS = new Policy(
            MissingKey.REJECT,
            UnknownType.REJECT,
            UnusedTransaction.WARN,
            Duration.ofSeconds(2),
            Duration.ofMinutes(1),
            5,
            Fingerprint.ofPayload(),
            Set.of());

    public static Policy defaults() {
        return DEFAULTS;
    }

    public Policy withMissingKey(MissingKey value) {
        return new Policy(
                value, unknownType, unusedTransaction, busyWait, handlerTimeout, maxRuns, fingerprint, terminal);
    }

    public Policy withUnknownType(UnknownType value) {
        return new Policy(
                missingKey, value, unusedTransaction, busyWait, handlerTimeout, maxRuns, fingerprint, terminal);
    }

    public Policy withUnusedTransaction(UnusedTransaction value) {
        return new Policy(missingKey, unknownType, value, busyWait, handlerTimeout, maxRuns, fingerprint, terminal);
    }

    public Policy withBusyWait(Duration value) {
        return new Policy(
                missingKey, unknownType, unusedTransaction, value, handlerTimeout, maxRuns, fingerprint, terminal);
    }

    public Policy withHandlerTimeout(Duration value) {
        return new Policy(missingKey, unknownType, unusedTransaction, busyWait, value, maxRuns, fingerprint, terminal);
    }

    public Policy withMaxRuns(int value) {
        return new Policy(
                missingKey, unknownType, unusedTransaction, busyWait, handlerTimeout, value, fingerprint, terminal);
    }

    public Policy withFingerprint(Fingerprint value) {
        return new Policy(
                missingKey, unknownType, unusedTransaction, busyWait, handlerTimeout, maxRuns, value, terminal);
    }

    /** Exceptions (with their subclasses) after which delivering the message again would not help. */
    public Policy withTerminal(Set<Class<? extends Throwable>> value) {
        return new Policy(
                missingKey, unknownType, unusedTransaction, busyWait, handlerTimeout, maxRuns, fingerprint, value);
    }

    /** As nanoseconds; what does not fit, such as "for ever", is the longest time that does. */
    static long nanos(Duration duration) {
        return duration.compareTo(LONGEST) > 0 ? Long.MAX_VALUE : duration.toNanos();
    }

    /** An explicit choice of the handler wins over the declared types; anything not declared is retryable. */
    Failure classify(Throwable failure) {
        if (failure instanceof RetryableException) {
            return Failure.RETRYABLE;
        }
        boolean declared = terminal.stream().anyMatch(type -> type.isInstance(failure));
        return declared || failure instanceof TerminalException ? Failure.TERMINAL : Failure.RETRYABLE;
    }
}
