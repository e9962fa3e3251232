package dev.idem;

import dev.idem.replay.Replayer;
import dev.idem.spi.Retention;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

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

    /** Shorter windows forget what a broker has not finished delivering. */
    private static final Duration SHORTEST_WINDOW = Duration.ofMinutes(1);

    private static final Duration LONGEST_WINDOW = Duration.ofDays(36_500);
    private static final Duration LONGEST_CLOCK_SKEW = Duration.ofDays(1);

    /** Larger ones belong elsewhere: a duplicate reads the whole result into memory. */
    private static final int LARGEST_RESULT = 64 << 20;

    private static final Policy DEFAULTS = new Policy(new Options());

    private final Options options;
    private final Retention retention;

    private Policy(Options options) {
        this.options = options;
        this.retention = new Retention(options.window, options.resultWindow());
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

    /**
     * What to do when a handler sends nothing through its transaction, publishes nothing, and does not say {@link
     * Transaction#nothingToDo}.
     */
    public enum UnusedTransaction {
        /** Undo it: {@link BrokenTransactionException}. Else its effects may be in a transaction that is rolled back. */
        REFUSE,
        /** Log it once for each consumer, and tell the listeners each time. */
        WARN,
        /** For consumers whose effects are all outside of the database. */
        ALLOW
    }

    /** What to do with a message that is older than the horizon, so that nobody can say whether it is done. */
    public enum Undecidable {
        /** Set it aside until a person decides: {@link Outcome.Undecidable}, which goes to the dead letters. */
        PARK,
        /** Turn it away for good: {@link Outcome.Rejected} with {@link Rejection#UNDECIDABLE}. */
        REJECT,
        /** Take it for new and run the handler, at the risk of doing it twice. Counted. */
        PROCESS
    }

    /** What a deliberate redelivery may do: that of a {@linkplain Replayer replay session}, and dead letters sent again. */
    public enum Replay {
        /** Whatever is not done yet: a session's message is judged by the ordinary markers, so what is done is a duplicate. */
        UNDONE_ONLY,
        /**
         * Everything, once for each session: what a session has done is remembered for the session alone, so that a
         * projection can be rebuilt although all its messages are done.
         */
        ALLOWED,
        /** As ALLOWED, but effects outside the database, and publications, are left out: see {@link Consumer#suppressesEffects}. */
        SUPPRESS_EFFECTS,
        /**
         * Nothing: a session's message is {@link Outcome.Suppressed}, and a dead letter is sent again only by a person who
         * insists and says why. For consumers whose late effects do harm.
         */
        FORBIDDEN
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

    /** How long duplicates are recognised; empty means for ever. */
    public Optional<Duration> window() {
        return Optional.ofNullable(options.window);
    }

    public Duration resultWindow() {
        return options.resultWindow();
    }

    public int maxResultBytes() {
        return options.maxResultBytes;
    }

    public Undecidable undecidable() {
        return options.undecidable;
    }

    public Duration clockSkew() {
        return options.clockSkew;
    }

    public Replay replay() {
        return options.replay;
    }

    /** Whether a replay session does everything anew. */
    public boolean rebuilds() {
        return options.replay == Replay.ALLOWED || options.replay == Replay.SUPPRESS_EFFECTS;
    }

    public boolean observeOnly() {
        return options.observeOnly;
    }

    /** What is done to the text of an exception before anybody sees it. */
    public UnaryOperator<String> redaction() {
        return options.redaction;
    }

    public Retention retention() {
        return retention;
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
     * unprotected; default {@code REFUSE}. A handler that has nothing to do for a message says so with {@link
     * Transaction#nothingToDo}; a consumer whose effects are all outside of the database says {@code ALLOW}.
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

    /**
     * How long duplicates are recognised; default 7 days, at least a minute. Markers are kept that long, and a message
     * older than the oldest of them is {@link Undecidable}. Choose it longer than the broker keeps messages, dead letters
     * and replays included. Of different windows that instances of one consumer want, the longest holds.
     */
    public Policy withWindow(Duration value) {
        if (value.compareTo(SHORTEST_WINDOW) < 0 || value.compareTo(LONGEST_WINDOW) > 0) {
            throw new IllegalArgumentException("window is " + value + ", but must be between " + SHORTEST_WINDOW
                    + " and " + LONGEST_WINDOW + "; to keep markers for ever say withWindowForEver()");
        }
        return with(o -> o.window = value).checked();
    }

    /** Keeps markers for ever: every duplicate is recognised, and the table grows with every message. */
    public Policy withWindowForEver() {
        return with(o -> o.window = null);
    }

    /**
     * How long stored results are kept; default a day, or the window where that is shorter. Later a duplicate is still
     * recognised, but answered without the result.
     */
    public Policy withResultWindow(Duration value) {
        if (value.compareTo(SHORTEST_WINDOW) < 0 || value.compareTo(LONGEST_WINDOW) > 0) {
            throw new IllegalArgumentException(
                    "resultWindow is " + value + ", but must be between " + SHORTEST_WINDOW + " and the window");
        }
        return with(o -> o.chosenResultWindow = value).checked();
    }

    /**
     * How many bytes a result may have once it is encoded; default 1 MiB, at most 64 MiB. A handler with a larger one has
     * failed for good, and is rolled back: {@link TerminalException}. The store may take less, as MariaDB does with a small
     * {@code max_allowed_packet}; then that is the limit.
     */
    public Policy withMaxResultBytes(int value) {
        if (value < 1 || value > LARGEST_RESULT) {
            throw new IllegalArgumentException(
                    "maxResultBytes is " + value + ", but must be between 1 and " + LARGEST_RESULT);
        }
        return with(o -> o.maxResultBytes = value);
    }

    /** What to do with a message that is older than the horizon; default {@code PARK}. */
    public Policy withUndecidable(Undecidable value) {
        return with(o -> o.undecidable = Objects.requireNonNull(value));
    }

    /**
     * How far the clocks of producers may be ahead of the database's; default 5 min, at most a day. A message counts as
     * older than the horizon when its time is not later than the horizon by more than this.
     */
    public Policy withClockSkew(Duration value) {
        if (value.isNegative() || value.compareTo(LONGEST_CLOCK_SKEW) > 0) {
            throw new IllegalArgumentException(
                    "clockSkew is " + value + ", but must be between 0 and " + LONGEST_CLOCK_SKEW);
        }
        return with(o -> o.clockSkew = value);
    }

    /**
     * What replay sessions and dead letters that are sent again may do; default {@code UNDONE_ONLY}. Each dead letter says
     * whether it is forbidden.
     */
    public Policy withReplay(Replay value) {
        return with(o -> o.replay = Objects.requireNonNull(value));
    }

    /**
     * Judges and counts, but lets everything through: the handler runs also for what would be a duplicate, a conflict,
     * busy, undecidable or without a key, each in a transaction of its own. For a look at a running system before Idem
     * decides anything there; {@link Inbox#observations} tells what was seen.
     */
    public Policy withObserveOnly() {
        return with(o -> o.observeOnly = true);
    }

    /**
     * What is done to the text of an exception before it is logged, stored or put into a dead letter; default nothing. Choose
     * one that takes out what may be personal: databases and parsers quote values. If it throws, only the type of the
     * exception is told. Payloads and headers are never told, whatever this says.
     */
    public Policy withRedaction(UnaryOperator<String> value) {
        return with(o -> o.redaction = Objects.requireNonNull(value, "value"));
    }

    private Policy checked() {
        Duration window = options.window;
        if (window != null && resultWindow().compareTo(window) > 0) {
            throw new IllegalArgumentException("resultWindow is " + resultWindow() + ", but the window is only "
                    + window + ": a result cannot be kept longer than its marker");
        }
        return this;
    }

    private Policy with(java.util.function.Consumer<Options> change) {
        Options copy = new Options(options);
        change.accept(copy);
        return new Policy(copy);
    }

    /** An explicit choice of the handler wins over the declared types; anything not declared is retryable. */
    public Failure classify(Throwable failure) {
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
        private UnusedTransaction unusedTransaction = UnusedTransaction.REFUSE;
        private Duration busyWait = Duration.ofSeconds(2);
        private Duration handlerTimeout = Duration.ofMinutes(1);
        private int maxRuns = 5;
        private int batchMessages = 500;
        private long batchBytes = 8L << 20;
        private Fingerprint fingerprint = Fingerprint.ofPayload();
        private Set<Class<? extends Throwable>> terminal = Set.of();
        private @Nullable Duration window = Duration.ofDays(7);
        private @Nullable Duration chosenResultWindow;
        private int maxResultBytes = 1 << 20;
        private Undecidable undecidable = Undecidable.PARK;
        private Duration clockSkew = Duration.ofMinutes(5);
        private Replay replay = Replay.UNDONE_ONLY;
        private boolean observeOnly;
        private UnaryOperator<String> redaction = UnaryOperator.identity();

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
            window = from.window;
            chosenResultWindow = from.chosenResultWindow;
            maxResultBytes = from.maxResultBytes;
            undecidable = from.undecidable;
            clockSkew = from.clockSkew;
            replay = from.replay;
            observeOnly = from.observeOnly;
            redaction = from.redaction;
        }

        private Duration resultWindow() {
            Duration day = Duration.ofDays(1);
            if (chosenResultWindow != null) {
                return chosenResultWindow;
            }
            return window != null && window.compareTo(day) < 0 ? window : day;
        }
    }
}
