package dev.idem.spi;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is stored of one step or effect of a message.
 *
 * @param position its place in the order the handler asked in; {@link #CLOSED} once the message is done
 * @param fence of the lease under which it was written last
 * @param effectKey what the provider was given; null for steps
 * @param codec by which its result is kept, also while there is none yet; null: it has no result
 * @param result what it answered, if that is kept
 * @param writer who wrote it last: one lease of one stored message, {@link #PERSON}, or nobody yet
 */
public record StepRecord(
        String name,
        Kind kind,
        State state,
        int position,
        long fence,
        @Nullable String effectKey,
        @Nullable String codec,
        @Nullable StoredResult result,
        long writer) {
    /** The writer of what a person has said. */
    public static final long PERSON = 0;

    /** The position of what is kept of a message that is done. */
    public static final int CLOSED = -1;

    public StepRecord {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(state, "state");
    }

    /** A step that is to be done. */
    public static StepRecord step(String name, int position, long fence) {
        return new StepRecord(name, Kind.STEP, State.DONE, position, fence, null, null, null, PERSON);
    }

    /** An effect that is to be made. */
    public static StepRecord intent(String name, int position, long fence, String effectKey, @Nullable String codec) {
        return new StepRecord(name, Kind.EFFECT, State.INTENT, position, fence, effectKey, codec, null, PERSON);
    }

    /** Whether the handling it belongs to is still going on. */
    public boolean isOpen() {
        return position != CLOSED;
    }

    /** The same in another place; {@link #CLOSED} where it belongs to no handling that is going on. */
    public StepRecord at(int place) {
        return new StepRecord(name, kind, state, place, fence, effectKey, codec, result, writer);
    }

    public StepRecord in(State other, @Nullable StoredResult answer) {
        return new StepRecord(
                name, kind, other, position, fence, effectKey, answer == null ? codec : answer.codec(), answer, writer);
    }

    /** What it is. */
    public enum Kind {
        STEP(0),
        EFFECT(1);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        /** How stores write it. */
        public int code() {
            return code;
        }

        public static Kind of(int code) {
            return code == EFFECT.code ? EFFECT : STEP;
        }
    }

    /** How far it is. Steps are only ever stored when they are done. */
    public enum State {
        /** The call is about to be made, or was: to whoever finds it later it is unknown. */
        INTENT(0),
        DONE(1),
        /** The call was made, or may have been, and nobody knows what became of it. */
        UNKNOWN(2);

        private final int code;

        State(int code) {
            this.code = code;
        }

        /** How stores write it. */
        public int code() {
            return code;
        }

        /** What cannot be read is unknown. */
        public static State of(int code) {
            return code == INTENT.code ? INTENT : code == DONE.code ? DONE : UNKNOWN;
        }
    }
}
