package dev.idem.queue;

import dev.idem.Policy;
import dev.idem.Rejection;
import dev.idem.RetryPolicy;
import java.time.Duration;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * How a consumer's messages are kept and worked off when they are acknowledged on receipt. Immutable and thread-safe;
 * every option has a working default, and each {@code with} method answers a changed copy.
 *
 * <pre>{@code
 * Consumer.named("mail").queued(QueuePolicy.leased(Duration.ofMinutes(2)).withWorkers(8).withOrderByKey())
 * }</pre>
 */
public final class QueuePolicy {
    private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);
    private static final Duration LONGEST_LEASE = Duration.ofDays(7);

    /** Renewed while the handler runs, so it says only how long the message waits if that ends its process again. */
    private static final Duration SUSPECT_LEASE = Duration.ofSeconds(10);

    private static final int LARGEST_BATCH = 10_000;

    private final Options options;

    private QueuePolicy(Options options) {
        this.options = options;
    }

    /** What becomes of the rest of an ordering key whose head is parked. */
    public enum WhenParked {
        /** It is held, and goes on when the head was retried or skipped. */
        HOLD,
        /**
         * It is parked as well, with the reason {@code BEHIND}, and a person decides about each message; later arrivals
         * are held.
         */
        PARK
    }

    /**
     * Claims, handles and completes a batch in one transaction: the fastest way, and a crash frees the messages at once.
     * For handlers that work in the database and are quick.
     */
    public static QueuePolicy inTransaction() {
        return new QueuePolicy(new Options());
    }

    /**
     * Takes leases, which are renewed while handlers run: for long or external work. A worker that is gone loses its
     * messages to others when its leases have run out, and cannot commit anything afterwards.
     */
    public static QueuePolicy leased(Duration lease) {
        require(
                lease.compareTo(SHORTEST_LEASE) >= 0 && lease.compareTo(LONGEST_LEASE) <= 0,
                "the lease is " + lease + ", but must be between " + SHORTEST_LEASE + " and " + LONGEST_LEASE);
        return inTransaction().with(o -> {
            o.lease = lease;
            o.batch = 10;
        });
    }

    public boolean isLeased() {
        return !options.lease.isZero();
    }

    /** How long a lease lasts; zero where there are none. */
    public Duration lease() {
        return options.lease;
    }

    public int workers() {
        return options.workers;
    }

    public int batch() {
        return options.batch;
    }

    public boolean isOrdered() {
        return options.ordered;
    }

    public WhenParked whenParked() {
        return options.whenParked;
    }

    public RetryPolicy retry() {
        return options.retry;
    }

    public boolean virtualThreads() {
        return options.virtualThreads;
    }

    public int maxBytes() {
        return options.maxBytes;
    }

    public long intakeCap() {
        return options.intakeCap;
    }

    public Duration payloadWindow() {
        return options.payloadWindow;
    }

    /** For how long a type that this instance does not know is left to others; zero if it is not. */
    public Duration unknownTypesLeft() {
        return options.unknownTypesLeft;
    }

    public Duration poll() {
        return options.poll;
    }

    public UnaryOperator<String> redaction() {
        return options.redaction;
    }

    /** How long a message that may have killed a process is leased for. */
    public Duration suspectLease() {
        return isLeased() ? options.lease : SUSPECT_LEASE;
    }

    /** How many threads of this process work on it; default 2. */
    public QueuePolicy withWorkers(int value) {
        require(value >= 1, "workers is " + value + ", but must be at least 1");
        return with(o -> o.workers = value);
    }

    /** How many messages a worker takes at once; default 100, or 10 with leases. */
    public QueuePolicy withBatch(int value) {
        require(value >= 1 && value <= LARGEST_BATCH, "batch is " + value + ", but must be 1 to " + LARGEST_BATCH);
        return with(o -> o.batch = value);
    }

    /**
     * Messages with the same ordering key are handled one after the other, in the order they were stored in, whatever
     * fails; different keys are worked on in parallel. Default: any message may overtake any other.
     */
    public QueuePolicy withOrderByKey() {
        return with(o -> o.ordered = true);
    }

    /** What becomes of the messages behind one that is parked; default {@code HOLD}. */
    public QueuePolicy withWhenParked(WhenParked value) {
        return with(o -> o.whenParked = Objects.requireNonNull(value, "value"));
    }

    /** Default: exponential with full jitter from a second to five minutes, 10 attempts. */
    public QueuePolicy withRetry(RetryPolicy value) {
        return with(o -> o.retry = Objects.requireNonNull(value, "value"));
    }

    /** Workers are virtual threads, where the platform has them; default: platform threads. */
    public QueuePolicy withVirtualThreads() {
        return with(o -> o.virtualThreads = true);
    }

    /**
     * How large a message may be; default 4 MiB. A larger one is {@link Rejection#TOO_LARGE}. What counts is the payload and
     * the headers that the producer sent, each with its name, its value and 64 bytes for what it costs beside them.
     */
    public QueuePolicy withMaxBytes(int value) {
        require(value >= 1, "maxBytes is " + value + ", but must be positive");
        return with(o -> o.maxBytes = value);
    }

    /** From how many waiting messages on new ones are answered with RETRY, so that the broker keeps them; default none. */
    public QueuePolicy withIntakeCap(long value) {
        require(value >= 1, "intakeCap is " + value + ", but must be positive");
        return with(o -> o.intakeCap = value);
    }

    /** How long a completed message is kept, for replays; default zero: it leaves nothing but its marker. */
    public QueuePolicy withPayloadWindow(Duration value) {
        require(!value.isNegative(), "payloadWindow is " + value + ", but must not be negative");
        return with(o -> o.payloadWindow = value);
    }

    /**
     * Leaves types without a handler to other instances, for so long since they were stored, by this instance's clock: in a
     * rolling deploy those that run the new version know more. They are stored, put off ever longer with the reason {@code
     * UNKNOWN_TYPE}, and only then treated as {@link Policy#withUnknownType} says. Default zero: at once, and not even stored.
     */
    public QueuePolicy withUnknownTypesLeft(Duration value) {
        require(!value.isNegative(), "unknownTypesLeft is " + value + ", but must not be negative");
        return with(o -> o.unknownTypesLeft = value);
    }

    /** How long an idle worker waits at most before it looks again; default a second. */
    public QueuePolicy withPoll(Duration value) {
        require(
                value.compareTo(Duration.ofMillis(1)) >= 0 && value.compareTo(Duration.ofHours(1)) <= 0,
                "poll is " + value + ", but must be between a millisecond and an hour");
        return with(o -> o.poll = value);
    }

    /**
     * What is done to the text of an error before it is stored or logged, behind what {@link Policy#withRedaction} does;
     * default nothing. If it throws, only the type is kept.
     */
    public QueuePolicy withRedaction(UnaryOperator<String> value) {
        return with(o -> o.redaction = Objects.requireNonNull(value, "value"));
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private QueuePolicy with(java.util.function.Consumer<Options> change) {
        Options copy = new Options(options);
        change.accept(copy);
        return new QueuePolicy(copy);
    }

    /** Changed only before a policy has it. */
    private static final class Options {
        private Duration lease = Duration.ZERO;
        private int workers = 2;
        private int batch = 100;
        private boolean ordered;
        private WhenParked whenParked = WhenParked.HOLD;
        private RetryPolicy retry = RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofMinutes(5));
        private boolean virtualThreads;
        private int maxBytes = 4 << 20;
        private long intakeCap = Long.MAX_VALUE;
        private Duration payloadWindow = Duration.ZERO;
        private Duration unknownTypesLeft = Duration.ZERO;
        private Duration poll = Duration.ofSeconds(1);
        private UnaryOperator<String> redaction = UnaryOperator.identity();

        private Options() {}

        private Options(Options from) {
            lease = from.lease;
            workers = from.workers;
            batch = from.batch;
            ordered = from.ordered;
            whenParked = from.whenParked;
            retry = from.retry;
            virtualThreads = from.virtualThreads;
            maxBytes = from.maxBytes;
            intakeCap = from.intakeCap;
            payloadWindow = from.payloadWindow;
            unknownTypesLeft = from.unknownTypesLeft;
            poll = from.poll;
            redaction = from.redaction;
        }
    }
}
