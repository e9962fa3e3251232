package dev.idem.internal.incident;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * An exception with its causes and frames as text. Not left to the logger, which would print the texts of exceptions as they
 * are: here each of them passes the redaction, and stays on its line.
 */
final class Stack {
    private static final int MOST_CHARACTERS = 16_000;
    private static final int MOST_FRAMES = 100;

    private final UnaryOperator<String> redaction;
    private final StringBuilder text = new StringBuilder();
    private final Set<Throwable> told = Collections.newSetFromMap(new IdentityHashMap<>());

    private Stack(UnaryOperator<String> redaction) {
        this.redaction = redaction;
    }

    static String of(Throwable failure, UnaryOperator<String> redaction) {
        Stack stack = new Stack(redaction);
        stack.add("", failure, new StackTraceElement[0]);
        return stack.text.toString();
    }

    private void add(String caption, Throwable failure, StackTraceElement[] around) {
        if (text.length() >= MOST_CHARACTERS || !told.add(failure)) {
            return;
        }
        if (!caption.isEmpty()) { // else the line says it already
            text.append(System.lineSeparator())
                    .append(caption)
                    .append(failure.getClass().getName());
            String says = Causes.text(failure, redaction);
            text.append(says.isEmpty() ? "" : ": ").append(says);
        }
        StackTraceElement[] frames = failure.getStackTrace();
        int shared = shared(frames, around);
        int own = Math.min(frames.length - shared, MOST_FRAMES);
        for (int i = 0; i < own && text.length() < MOST_CHARACTERS; i++) {
            text.append(System.lineSeparator()).append("\tat ").append(frames[i]);
        }
        if (own < frames.length) {
            text.append(System.lineSeparator())
                    .append("\t... ")
                    .append(frames.length - own)
                    .append(" more");
        }
        for (Throwable suppressed : failure.getSuppressed()) {
            add("Suppressed: ", suppressed, frames);
        }
        if (failure.getCause() != null) {
            add("Caused by: ", failure.getCause(), frames);
        }
    }

    /** How many frames at the end both have. */
    private static int shared(StackTraceElement[] frames, StackTraceElement[] around) {
        int shared = 0;
        while (shared < frames.length
                && shared < around.length
                && frames[frames.length - 1 - shared].equals(around[around.length - 1 - shared])) {
            shared++;
        }
        return shared;
    }
}
