package dev.idem.internal.incident;

import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a message and that a person should know.
 *
 * @param message the name of the message: its id, or its place. Never its payload or a header
 * @param reason one word: TERMINAL, EXHAUSTED, KEY_MISSING, …; empty if the kind says all
 * @param detail more about it, in words of our own; empty if there is none
 * @param cause what was thrown, if that is why
 * @param failures how often its handler has failed, if that is known; else 0
 * @param redaction what is done to the texts of exceptions, because they may hold data
 */
public record Incident(
        Kind kind,
        String consumer,
        String message,
        String reason,
        String detail,
        @Nullable Throwable cause,
        int failures,
        UnaryOperator<String> redaction) {

    /** What has happened. */
    public enum Kind {
        /** Its handler has failed, and it is tried again. */
        FAILED("failed, and is tried again", false),
        /** Its caller or listener is to set it aside: it becomes a dead letter. */
        SET_ASIDE("is set aside", true),
        /** It waits in the inbox until a person decides. */
        PARKED("is parked", true),
        /** No handler has seen it, and none will. */
        REJECTED("is rejected", false),
        /** Its key is known, with another payload. */
        CONFLICT("is in conflict", false),
        /** It is older than what the store remembers. */
        UNDECIDABLE("is undecidable", false);

        private final String words;
        private final boolean last;

        Kind(String words, boolean last) {
            this.words = words;
            this.last = last;
        }

        String words() {
            return words;
        }

        /** Whether nothing is tried any more, so that the whole cause is worth its lines. */
        boolean isLast() {
            return last;
        }
    }

    /** How a message is called: by its id, else by its place; empty if it has neither. */
    public static String nameOf(Optional<String> id, Optional<String> place) {
        return id.filter(text -> !text.isBlank())
                .or(() -> place.map("at "::concat))
                .orElse("");
    }

    /** What is alike: a hundred messages with the same trouble are one trouble. */
    String likeness() {
        Throwable why = cause == null ? null : Causes.unwrapped(cause);
        return consumer
                + '\n'
                + kind
                + '\n'
                + reason
                + '\n'
                + (why == null ? "" : why.getClass().getName());
    }
}
