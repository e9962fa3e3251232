package dev.idem.internal.incident;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.security.PrivilegedActionException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** What can be said of an exception: the one that matters, its text, and where it began. Stateless. */
public final class Causes {
    /** How long the text of an exception may be in a log line or a dead letter. */
    public static final int LONGEST_TEXT = 1_000;

    /** A redaction looks at no more than this. */
    private static final int MOST_READ = 16_384;

    /** Those who pass on what others have thrown, and say nothing themselves. */
    private static final List<Class<? extends Throwable>> WRAPPERS = List.of(
            InvocationTargetException.class,
            UndeclaredThrowableException.class,
            ExecutionException.class,
            CompletionException.class,
            PrivilegedActionException.class);

    /** Code that a user did not write, as far as its name tells. */
    private static final List<String> FOREIGN = List.of(
            "java.",
            "javax.",
            "jakarta.",
            "jdk.",
            "sun.",
            "com.sun.",
            "kotlin.",
            "kotlinx.",
            "scala.",
            "groovy.",
            "org.postgresql.",
            "org.mariadb.",
            "com.mysql.",
            "org.h2.",
            "com.zaxxer.",
            "org.springframework.",
            "org.hibernate.",
            "org.jooq.",
            "org.jdbi.",
            "org.apache.",
            "org.eclipse.",
            "org.slf4j.",
            "ch.qos.",
            "io.netty.",
            "io.micrometer.",
            "io.opentelemetry.",
            "io.quarkus.",
            "io.smallrye.",
            "com.rabbitmq.",
            "com.fasterxml.",
            "tools.jackson.",
            "com.google.common.",
            "reactor.",
            "org.junit.",
            "org.mockito.",
            "org.assertj.");

    private static final String OURS = "dev.idem.";
    private static final String EXAMPLES = "dev.idem.examples.";

    private Causes() {}

    /** The exception that was thrown first, without what only passed it on. */
    public static Throwable unwrapped(Throwable failure) {
        Throwable inner = failure;
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        while (seen.add(inner) && isWrapper(inner)) {
            Throwable next = inner.getCause();
            if (next == null) {
                return inner;
            }
            inner = next;
        }
        return inner;
    }

    private static boolean isWrapper(Throwable failure) {
        return WRAPPERS.stream().anyMatch(type -> type.isInstance(failure));
    }

    /**
     * The text of an exception, through the redaction, in one line and not too long. Empty if it has none, and also if it
     * cannot be told or the redaction fails: better no text than one that nobody should see.
     */
    public static String text(Throwable failure, UnaryOperator<String> redaction) {
        return Printable.line(redacted(failure, redaction), LONGEST_TEXT);
    }

    /** The same with its lines as they are, and longer. */
    public static String redacted(Throwable failure, UnaryOperator<String> redaction) {
        try {
            return redacted(failure.getMessage(), redaction);
        } catch (Throwable broken) { // code of the exception's own; no text is better than no record
            return "";
        }
    }

    /** The same for a text. What is cut off, for it must be short in the end, is cut behind the redaction. */
    public static String redacted(@Nullable String text, UnaryOperator<String> redaction) {
        try {
            String redacted =
                    text == null ? "" : redaction.apply(text.substring(0, Math.min(text.length(), MOST_READ)));
            return redacted == null ? "" : redacted;
        } catch (Throwable broken) {
            return "";
        }
    }

    /** The first frame of code that is neither ours nor a library's; if there is none, the first of all. */
    static Optional<StackTraceElement> ownFrame(Throwable failure) {
        StackTraceElement[] frames = failure.getStackTrace();
        for (StackTraceElement frame : frames) {
            if (isOwn(frame.getClassName())) {
                return Optional.of(frame);
            }
        }
        return frames.length == 0 ? Optional.empty() : Optional.of(frames[0]);
    }

    private static boolean isOwn(String name) {
        boolean ours = name.startsWith(OURS) && !name.startsWith(EXAMPLES);
        return !ours && FOREIGN.stream().noneMatch(name::startsWith);
    }

    static void rethrowIfFatal(Throwable broken) {
        if (broken instanceof VirtualMachineError fatal && !(broken instanceof StackOverflowError)) {
            throw fatal;
        }
    }
}
