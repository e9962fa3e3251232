package dev.idem.internal.incident;

import dev.idem.internal.incident.Similar.Turn;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one place that tells a person of messages that fail, are set aside, parked, rejected or in conflict: at WARN, with
 * consumer and id, the class, text and first own frame of the cause, and all of the cause when nothing is tried any more. Of
 * many similar ones the first few of each minute are told; the others are counted, and go to DEBUG. Whatever goes wrong here
 * changes nothing elsewhere. Memory is bounded. Thread-safe.
 */
public final class Incidents implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger("dev.idem.Inbox");

    private static final int LONGEST_NAME = 200;
    private static final int LONGEST_DETAIL = 1_000;

    private final Similar similar;
    private final Recent recent;

    public Incidents() {
        this(System::nanoTime);
    }

    Incidents(LongSupplier clock) {
        similar = new Similar(clock);
        recent = new Recent(clock);
    }

    /** Tells of it, however often that happened to the message before. */
    public void tell(Incident incident) {
        safely(() -> tellNow(incident));
    }

    /** The same, unless this was told of the message not long ago: of the first failure, and not of the second. */
    public void tellOnce(Incident incident) {
        String what = incident.kind().isLast() ? "last" : incident.kind().name();
        String occasion = incident.consumer() + '\n' + what + '\n' + incident.message();
        tellOnce(incident, incident.message().isEmpty() ? null : occasion);
    }

    /**
     * The same, for those who know better what is once.
     *
     * @param occasion the same for what must be told once; null if nothing is known of that
     */
    public void tellOnce(Incident incident, @Nullable String occasion) {
        safely(() -> {
            if (occasion != null && recent.isKnown(occasion)) {
                debug(incident);
            } else {
                tellNow(incident);
            }
        });
    }

    private static void debug(Incident incident) {
        if (log.isDebugEnabled()) {
            log.debug("{}", line(incident));
        }
    }

    private void tellNow(Incident incident) {
        Turn turn = similar.next(incident.likeness());
        tellUntold(false);
        if (!turn.passes()) {
            debug(incident);
            return;
        }
        StringBuilder line = new StringBuilder(line(incident));
        if (turn.suppressed() > 0) {
            line.append(" (").append(turn.suppressed()).append(" similar suppressed)");
        }
        if (turn.last()) {
            line.append(" (similar ones are only counted for a minute, and go to DEBUG)");
        }
        Throwable cause = incident.cause();
        if (cause != null && incident.kind().isLast()) {
            line.append(Stack.of(Causes.unwrapped(cause), incident.redaction()));
        }
        log.warn("{}", line);
    }

    /** What was counted and not followed by a line of its own. */
    private void tellUntold(boolean all) {
        similar.untold(all)
                .forEach((likeness, count) -> log.warn(
                        "{} similar suppressed: {}",
                        count,
                        likeness.isEmpty()
                                ? "of many kinds"
                                : Printable.line(likeness.strip().replace('\n', ' '), 300)));
    }

    private static String line(Incident incident) {
        StringBuilder line = new StringBuilder(Printable.line(incident.consumer(), LONGEST_NAME))
                .append(": message ")
                .append(
                        incident.message().isEmpty()
                                ? "without an id"
                                : Printable.line(incident.message(), LONGEST_NAME))
                .append(' ')
                .append(incident.kind().words());
        if (!incident.reason().isEmpty()) {
            line.append(" (")
                    .append(Printable.line(incident.reason(), LONGEST_NAME))
                    .append(')');
        }
        if (incident.failures() > 0 && incident.kind() != Incident.Kind.FAILED) {
            line.append(" after ")
                    .append(incident.failures())
                    .append(incident.failures() == 1 ? " failed run" : " failed runs");
        }
        if (!incident.detail().isEmpty()) {
            line.append(": ").append(Printable.line(incident.detail(), LONGEST_DETAIL));
        }
        return line.append(cause(incident)).toString();
    }

    private static String cause(Incident incident) {
        @Nullable Throwable cause = incident.cause();
        if (cause == null) {
            return "";
        }
        Throwable first = Causes.unwrapped(cause);
        String text = Causes.text(first, incident.redaction());
        Optional<StackTraceElement> where = Causes.ownFrame(first);
        return ": " + first.getClass().getName() + (text.isEmpty() ? "" : ": " + text)
                + where.map(frame -> " at " + frame).orElse("");
    }

    /** An exception may be made by anybody, and so may a logger's appender: neither decides about a message. */
    private static void safely(Runnable telling) {
        try {
            telling.run();
        } catch (Throwable broken) {
            try {
                log.debug(
                        "An incident could not be logged: {}", broken.getClass().getName());
            } catch (Throwable again) {
                return; // then nobody can be told
            }
        }
    }

    /** Tells what was only counted by now. */
    @Override
    public void close() {
        safely(() -> tellUntold(true));
    }
}
