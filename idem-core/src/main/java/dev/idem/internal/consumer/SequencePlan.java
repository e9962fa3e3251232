package dev.idem.internal.consumer;

import dev.idem.Message;
import dev.idem.RetryableException;
import dev.idem.internal.key.Placement;
import dev.idem.internal.key.SessionScope;
import dev.idem.sequence.GapResolver;
import dev.idem.sequence.Sequence;
import dev.idem.spi.StreamVersion;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A consumer's sequence, resolved: where each message stands, and where streams begin. Immutable and thread-safe. */
public final class SequencePlan {
    private static final int LONGEST_STREAM = 1_000;

    private final Sequence sequence;
    private final boolean apart;

    /** @param apart whether the streams of a replay session are its own; they begin as those of ordinary traffic do */
    SequencePlan(Sequence sequence, boolean apart) {
        this.sequence = sequence;
        this.apart = apart;
    }

    public GapResolver onGap() {
        return sequence.onGap();
    }

    public Duration gapDeadline() {
        return sequence.gapDeadline();
    }

    /** The version before the first of a stream; empty if any may be the first. */
    public OptionalLong before(String stream) {
        return sequence.start().before(apart ? SessionScope.unscoped(stream) : stream);
    }

    /** A rule that fails for a message would fail again, as for keys, so the message has no place. */
    public Placement place(Message message) {
        try {
            return inSession(
                    message,
                    checked(
                            sequence.stream().apply(message).orElse(null),
                            sequence.version().apply(message).orElse(null)));
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
                        SessionScope.scoped(
                                at.place().stream(), message.replaySession().get()),
                        at.place().version()))
                : found;
    }

    /** For sorting; those without a version come last. */
    public long versionOf(Message message) {
        return place(message) instanceof Placement.At at ? at.place().version() : Long.MAX_VALUE;
    }

    private static Placement checked(@Nullable String name, @Nullable Long number) {
        @Nullable String problem = null;
        if (name == null || name.isBlank()) {
            problem = "it has no stream";
        } else if (name.length() > LONGEST_STREAM) {
            problem = "its stream has " + name.length() + " characters, but must have at most " + LONGEST_STREAM;
        } else if (SessionScope.isScoped(name)) {
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
}
