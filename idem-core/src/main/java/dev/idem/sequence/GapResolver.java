package dev.idem.sequence;

import dev.idem.Message;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Decides what becomes of a gap whose deadline is over. It is asked by a worker, outside of any transaction, once for each
 * deadline; what it throws means to wait. Must be thread-safe.
 */
@FunctionalInterface
public interface GapResolver {
    /**
     * Decides about one gap.
     *
     * @param message the one whose deadline is over; others of its stream may wait before it
     */
    Decision decide(Gap gap, Message message) throws Exception;

    /** Waits for another deadline, for as long as it takes. The default. */
    static GapResolver waitMore() {
        return (gap, message) -> new Decision.Wait();
    }

    /**
     * Asks for what is missing, and takes it in like any other delivery; when there is nothing yet, waits.
     *
     * @param callback answers the messages from {@link Gap#missing} up to the one before {@link Gap#next}, or some of them
     */
    static GapResolver fetch(Function<Gap, Optional<List<Message>>> callback) {
        Objects.requireNonNull(callback, "callback");
        return (gap, message) ->
                callback.apply(gap).<Decision>map(Decision.Fetched::new).orElseGet(Decision.Wait::new);
    }

    /** Gives up what is missing before the next message that is here. Audited; what is given up is stale from then on. */
    static GapResolver skip() {
        return (gap, message) -> new Decision.Skip();
    }

    /**
     * Goes on with a message that carries the whole state, whatever is missing before it; with another one, waits. What
     * comes before it is stale from then on. Audited.
     */
    static GapResolver snapshot(Predicate<Message> wholeState) {
        Objects.requireNonNull(wholeState, "wholeState");
        return (gap, message) -> wholeState.test(message) ? new Decision.Snapshot() : new Decision.Wait();
    }

    /** Parks everything that waits in the stream, until a person decides. Audited. */
    static GapResolver parkKey() {
        return (gap, message) -> new Decision.Park();
    }

    /** Asks another one where this one says to wait. */
    default GapResolver orElse(GapResolver other) {
        Objects.requireNonNull(other, "other");
        return (gap, message) -> {
            Decision decision = decide(gap, message);
            return decision instanceof Decision.Wait ? other.decide(gap, message) : decision;
        };
    }

    /** What is done about a gap. */
    sealed interface Decision {
        record Wait() implements Decision {}

        record Fetched(List<Message> messages) implements Decision {
            public Fetched {
                messages = List.copyOf(messages);
            }
        }

        record Skip() implements Decision {}

        record Snapshot() implements Decision {}

        record Park() implements Decision {}
    }
}
