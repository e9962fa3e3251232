package dev.idem;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/**
 * How a consumer treats what is not the ordinary case. Immutable and thread-safe; every option has a working default, and
 * each {@code with} method answers a changed copy.
 *
 * <pre>{@code
 * Policy.defaults().withBusyWait(Duration.ofSeconds(10)).withTerminal(Set.of(UnknownCustomer.class))
 * }</pre>
 */
public final class Policy {
    /** Longer waits belong to the broker: a delivery that waits holds a thread. */
    private static final Duration LONGEST_BUSY_WAIT = Duration.ofHours(1);

    private static final Duration LONGEST_HANDLER_TIMEOUT = Duration.ofDays(1);

    private static final Policy DEFAULTS = new Policy(new Options());

    private final Options options;

    private Policy(Options options) {
        this.options = options;
    }

    public static Policy defaults() {
        return DEFAULTS;
    }

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

    public MissingKey missingKey() {
        return options.missingKey;
    }

    public UnknownType unknownType() {
        return options.unknownType;
    }

    public UnusedTransaction unusedTransaction() {
        return options.unusedTransaction;
    }

    public Duration busyWait() {
        return options.busyWait;
    }

    public Duration handlerTimeout() {
        return options.handlerTimeout;
    }

    public int maxRuns() {
        return options.maxRuns;
    }

    public int batchMessages() {
        return options.batchMessages;
    }

    public long batchBytes() {
        return options.batchBytes;
    }

    public Fingerprint fingerprint() {
        return options.fingerprint;
    }

    public Set<Class<? extends Throwable>> terminal() {
        return options.terminal;
    }

    /** What to do with a message that has no usable key; default {@code REJECT}. */
    public Policy withMissingKey(MissingKey value) {
        return with(o -> o.missingKey = Objects.requireNonNull(value));
    }

    /** What to do with a type no handler is registered for; default {@code REJECT}. Ignore on shared topics. */
    public Policy withUnknownType(UnknownType value) {
        return with(o -> o.unknownType = Objects.requireNonNull(value));
    }

    /**
     * What to do when a handler sends nothing through its transaction, because then its effects are somewhere else and
     * unprotected; default {@code WARN}.
     */
    public Policy withUnusedTransaction(UnusedTransaction value) {
        return with(o -> o.unusedTransaction = Objects.requireNonNull(value));
    }

    /**
     * How long a delivery waits for another one of the same key that is running now, before it is {@code Busy}; default
     * 2 s, at most an hour. Databases may round it up to a second. Raise it when handlers are slow and redelivery is dear.
     */
    public Policy withBusyWait(Duration value) {
        if (value.isNegative() || value.compareTo(LONGEST_BUSY_WAIT) > 0) {
            throw new IllegalArgumentException(
                    "busyWait is " + value + ", but must be between 0 and " + LONGEST_BUSY_WAIT);
        }
        return with(o -> o.busyWait = value);
    }

    /**
     * How long a handler may run before its connection is revoked; default 1 min, at most a day. Raise it for handlers
     * that are slow by nature; their transaction is open all the while.
     */
    public Policy withHandlerTimeout(Duration value) {
        if (value.isNegative() || value.isZero() || value.compareTo(LONGEST_HANDLER_TIMEOUT) > 0) {
            throw new IllegalArgumentException(
                    "handlerTimeout is " + value + ", but must be positive and at most " + LONGEST_HANDLER_TIMEOUT);
        }
        return with(o -> o.handlerTimeout = value);
    }

    /**
     * How often a unit is run in one delivery when deadlocks or lost connections undo it; default 5. Choose 1 for handlers
     * that must not be called twice in one delivery.
     */
    public Policy withMaxRuns(int value) {
        if (value < 1) {
            throw new IllegalArgumentException("maxRuns is " + value + ", but must be at least 1");
        }
        return with(o -> o.maxRuns = value);
    }

    /**
     * How many messages of one {@code acceptAll} share a transaction at most, and how many payload bytes; default 500 and
     * 8 MiB. A single message may be larger. Lower it when handlers are slow: their locks are held until the commit.
     */
    public Policy withBatchLimits(int messages, long bytes) {
        if (messages < 1 || bytes < 1) {
            throw new IllegalArgumentException(
                    "the batch limits are " + messages + " messages and " + bytes + " bytes, but must be positive");
        }
        return with(o -> {
            o.batchMessages = messages;
            o.batchBytes = bytes;
        });
    }

    /** What must be equal when the key is; default the payload's bytes. */
    public Policy withFingerprint(Fingerprint value) {
        return with(o -> o.fingerprint = Objects.requireNonNull(value));
    }

    /**
     * Exceptions, with their subclasses, after which delivering the message again would not help; default only {@link
     * TerminalException}.
     */
    public Policy withTerminal(Set<Class<? extends Throwable>> value) {
        return with(o -> o.terminal = Set.copyOf(value));
    }

    private Policy with(java.util.function.Consumer<Options> change) {
        Options copy = new Options(options);
        change.accept(copy);
        return new Policy(copy);
    }

    /** An explicit choice of the handler wins over the declared types; anything not declared is retryable. */
    Failure classify(Throwable failure) {
        if (failure instanceof RetryableException) {
            return Failure.RETRYABLE;
        }
        boolean declared = options.terminal.stream().anyMatch(type -> type.isInstance(failure));
        return declared || failure instanceof TerminalException ? Failure.TERMINAL : Failure.RETRYABLE;
    }

    /** Changed only before a policy has it. */
    private static final class Options {
        private MissingKey missingKey = MissingKey.REJECT;
        private UnknownType unknownType = UnknownType.REJECT;
        private UnusedTransaction unusedTransaction = UnusedTransaction.WARN;
        private Duration busyWait = Duration.ofSeconds(2);
        private Duration handlerTimeout = Duration.ofMinutes(1);
        private int maxRuns = 5;
        private int batchMessages = 500;
        private long batchBytes = 8L << 20;
        private Fingerprint fingerprint = Fingerprint.ofPayload();
        private Set<Class<? extends Throwable>> terminal = Set.of();

        private Options() {}

        private Options(Options from) {
            missingKey = from.missingKey;
            unknownType = from.unknownType;
            unusedTransaction = from.unusedTransaction;
            busyWait = from.busyWait;
            handlerTimeout = from.handlerTimeout;
            maxRuns = from.maxRuns;
            batchMessages = from.batchMessages;
            batchBytes = from.batchBytes;
            fingerprint = from.fingerprint;
            terminal = from.terminal;
        }
    }
}
