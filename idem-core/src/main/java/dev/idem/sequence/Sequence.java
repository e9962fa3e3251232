package dev.idem.sequence;

import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Rejection;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The sequence guard of a consumer: each message is a version of a stream, and each version is applied exactly once, behind
 * the one before it. What is at or below the current version is {@link Outcome.Stale}; what is further ahead than the next
 * is {@link Outcome.Held} until those before it are applied. Judged in the transaction of the effect, under a lock on the
 * stream, so one stream is worked on by one transaction at a time. Immutable and thread-safe.
 *
 * <pre>{@code
 * Consumer.named("balance").queued(QueuePolicy.inTransaction())
 *         .sequence(Sequence.by(Message::orderingKey, Sequence.header("version")).startingAt(Sequence.Start.at(1)))
 * }</pre>
 */
public final class Sequence {
    private static final Duration SHORTEST_DEADLINE = Duration.ofMillis(1);
    private static final Duration LONGEST_DEADLINE = Duration.ofDays(365);

    private final Function<Message, Optional<String>> stream;
    private final Function<Message, Optional<Long>> version;
    private final Start start;
    private final Duration gapDeadline;
    private final GapResolver onGap;

    private Sequence(
            Function<Message, Optional<String>> stream,
            Function<Message, Optional<Long>> version,
            Start start,
            Duration gapDeadline,
            GapResolver onGap) {
        this.stream = Objects.requireNonNull(stream, "stream");
        this.version = Objects.requireNonNull(version, "version");
        this.start = Objects.requireNonNull(start, "start");
        this.gapDeadline = Objects.requireNonNull(gapDeadline, "gapDeadline");
        this.onGap = Objects.requireNonNull(onGap, "onGap");
    }

    /** Where a message's stream and version are; a message that lacks one of them is {@link Rejection#NO_VERSION}. */
    public static Sequence by(Function<Message, Optional<String>> stream, Function<Message, Optional<Long>> version) {
        return new Sequence(stream, version, Start.firstSeen(), Duration.ofMinutes(1), GapResolver.waitMore());
    }

    /** A version that stands in a header, as decimal digits. */
    public static Function<Message, Optional<Long>> header(String name) {
        Objects.requireNonNull(name, "name");
        return message -> message.header(name).map(Long::valueOf);
    }

    /** Which version of a stream is the first; default {@link Start#firstSeen}. */
    public Sequence startingAt(Start value) {
        return new Sequence(stream, version, value, gapDeadline, onGap);
    }

    /**
     * How long a message that is kept waits for those before it until the resolver is asked; default a minute. Consumers
     * that are not queued keep nothing, so their gaps have no deadline.
     */
    public Sequence gapDeadline(Duration value) {
        if (value.compareTo(SHORTEST_DEADLINE) < 0 || value.compareTo(LONGEST_DEADLINE) > 0) {
            throw new IllegalArgumentException("gapDeadline is " + value + ", but must be between " + SHORTEST_DEADLINE
                    + " and " + LONGEST_DEADLINE);
        }
        return new Sequence(stream, version, start, value, onGap);
    }

    /** What becomes of a gap whose deadline is over; default {@link GapResolver#waitMore}. */
    public Sequence onGap(GapResolver value) {
        return new Sequence(stream, version, start, gapDeadline, value);
    }

    public Duration gapDeadline() {
        return gapDeadline;
    }

    public GapResolver onGap() {
        return onGap;
    }

    public Start start() {
        return start;
    }

    /** Where a message's stream is. */
    public Function<Message, Optional<String>> stream() {
        return stream;
    }

    /** Where a message's version is. */
    public Function<Message, Optional<Long>> version() {
        return version;
    }

    /** Which version of a stream is the first. Immutable. */
    public static final class Start {
        private final @Nullable ToLongFunction<String> before;

        private Start(@Nullable ToLongFunction<String> before) {
            this.before = before;
        }

        /** Whatever version is applied first. What comes later and is lower is stale. */
        public static Start firstSeen() {
            return new Start(null);
        }

        /** This one, usually 0 or 1; all others wait for it. */
        public static Start at(long version) {
            if (version < 0) {
                throw new IllegalArgumentException("the first version is " + version + ", but must not be negative");
            }
            return new Start(stream -> version - 1);
        }

        /**
         * The one behind what a callback answers: the last version that is applied already, -1 if none is. It is asked when
         * a stream is met for the first time, while the stream is locked, so it should be quick.
         */
        public static Start lookup(ToLongFunction<String> applied) {
            return new Start(Objects.requireNonNull(applied, "applied"));
        }

        /** The version before the first; empty if any may be the first. It may be a lookup of the user's. */
        public OptionalLong before(String stream) {
            return before == null ? OptionalLong.empty() : OptionalLong.of(Math.max(-1, before.applyAsLong(stream)));
        }
    }
}
