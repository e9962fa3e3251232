package dev.idem;

import dev.idem.spi.StreamVersion;
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
    private static final int LONGEST_STREAM = 1_000;
    private static final Duration SHORTEST_DEADLINE = Duration.ofMillis(1);
    private static final Duration LONGEST_DEADLINE = Duration.ofDays(365);

    private final Function<Message, Optional<String>> stream;
    private final Function<Message, Optional<Long>> version;
    private final Start start;
    private final Duration gapDeadline;
    private final GapResolver onGap;
    private final boolean apart;

    private Sequence(
            Function<Message, Optional<String>> stream,
            Function<Message, Optional<Long>> version,
            Start start,
            Duration gapDeadline,
            GapResolver onGap,
            boolean apart) {
        this.stream = Objects.requireNonNull(stream, "stream");
        this.version = Objects.requireNonNull(version, "version");
        this.start = Objects.requireNonNull(start, "start");
        this.gapDeadline = Objects.requireNonNull(gapDeadline, "gapDeadline");
        this.onGap = Objects.requireNonNull(onGap, "onGap");
        this.apart = apart;
    }

    /** Where a message's stream and version are; a message that lacks one of them is {@link Rejection#NO_VERSION}. */
    public static Sequence by(Function<Message, Optional<String>> stream, Function<Message, Optional<Long>> version) {
        return new Sequence(stream, version, Start.firstSeen(), Duration.ofMinutes(1), GapResolver.waitMore(), false);
    }

    /** A version that stands in a header, as decimal digits. */
    public static Function<Message, Optional<Long>> header(String name) {
        Objects.requireNonNull(name, "name");
        return message -> message.header(name).map(Long::valueOf);
    }

    /** The same, but the streams of a replay session are its own, and begin as those of ordinary traffic do. */
    Sequence apartInSessions() {
        Start unscoped = new Start(start.before == null ? null : name -> start.asked(ReplaySession.unscoped(name)));
        return new Sequence(stream, version, unscoped, gapDeadline, onGap, true);
    }

    /** Which version of a stream is the first; default {@link Start#firstSeen}. */
    public Sequence startingAt(Start value) {
        return new Sequence(stream, version, value, gapDeadline, onGap, apart);
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
        return new Sequence(stream, version, start, value, onGap, apart);
    }

    /** What becomes of a gap whose deadline is over; default {@link GapResolver#waitMore}. */
    public Sequence onGap(GapResolver value) {
        return new Sequence(stream, version, start, gapDeadline, value, apart);
    }

    public Duration gapDeadline() {
        return gapDeadline;
    }

    GapResolver onGap() {
        return onGap;
    }

    Start start() {
        return start;
    }

    /** A rule that fails for a message would fail again, as for keys, so the message has no place. */
    Placement place(Message message) {
        try {
            return inSession(
                    message,
                    checked(
                            stream.apply(message).orElse(null),
                            version.apply(message).orElse(null)));
        } catch (RetryableException notTheMessage) {
            throw notTheMessage;
        } catch (RuntimeException failure) { // its text may quote the payload, so only its type is told
            return new Placement.None("the selector of its stream or version failed: "
                    + failure.getClass().getName());
        }
    }

    private Placement inSession(Message message, Placement found) {
        return apart && message.replaySession().isPresent() && found instanceof Placement.At at
                ? new Placement.At(new StreamVersion(
                        ReplaySession.scoped(
                                at.place().stream(), message.replaySession().get()),
                        at.place().version()))
                : found;
    }

    /** For sorting; those without a version come last. */
    long versionOf(Message message) {
        return place(message) instanceof Placement.At at ? at.place().version() : Long.MAX_VALUE;
    }

    private static Placement checked(@Nullable String name, @Nullable Long number) {
        @Nullable String problem = null;
        if (name == null || name.isBlank()) {
            problem = "it has no stream";
        } else if (name.length() > LONGEST_STREAM) {
            problem = "its stream has " + name.length() + " characters, but must have at most " + LONGEST_STREAM;
        } else if (ReplaySession.isScoped(name)) {
            problem = "its stream has a name of a kind that is kept for replay sessions";
        } else if (number == null) {
            problem = "it has no version";
        } else if (number < 0) {
            problem = "its version is " + number + ", but must not be negative";
        }
        return name == null || number == null || problem != null
                ? new Placement.None(problem == null ? "it has no place" : problem)
                : new Placement.At(new StreamVersion(name, number));
    }

    /** Where a message stands in its stream, or why that is not known. */
    sealed interface Placement {
        record At(StreamVersion place) implements Placement {}

        record None(String detail) implements Placement {
            Keyed.Without rejected() {
                return new Keyed.Without(Rejection.NO_VERSION, detail);
            }
        }
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

        /** The version before the first; empty if any may be the first. */
        OptionalLong before(String stream) {
            return before == null ? OptionalLong.empty() : OptionalLong.of(Math.max(-1, asked(stream)));
        }

        private long asked(String stream) {
            return before == null ? -1 : before.applyAsLong(stream);
        }
    }
}
