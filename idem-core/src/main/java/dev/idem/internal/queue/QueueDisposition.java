package dev.idem.internal.queue;

import dev.idem.Failure;
import dev.idem.HandlerTimeoutException;
import dev.idem.Outcome;
import dev.idem.Rejection;
import dev.idem.RetryPolicy;
import dev.idem.internal.batch.BatchEntry;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.incident.Causes;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueuedMessage;
import dev.idem.steps.EffectUnknownException;
import dev.idem.steps.StepMismatchException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The one place that says what an outcome means for a stored message. Stateless. */
public final class QueueDisposition {
    /** After a fault of the database that hit one message alone. */
    private static final Duration AFTER_A_FAULT = Duration.ofSeconds(1);

    private static final int LONGEST_ERROR = 4_096;

    /** How many starts without an end are enough to set aside a message whose handler does not return. */
    private static final int MOST_STUCK = 2;

    private static final String STUCK = "STUCK";

    private final QueuePolicy policy;
    private final UnaryOperator<String> redaction;
    private final boolean leased;

    /** @param leased whether the start of the run was recorded before it */
    public QueueDisposition(ConsumerPlan consumer, boolean leased) {
        this.policy = consumer.queue().orElseThrow();
        this.redaction = consumer.redaction();
        this.leased = leased;
    }

    /** What must be recorded in the transaction that has locked the streams: only there it is certain what is missing. */
    Optional<QueueChange> inside(QueuedMessage message, BatchEntry<?> entry) {
        return entry.outcome() instanceof Outcome.Held<?> held && held.kept()
                ? entry.attempt().consumer().sequence().map(s -> held(message, s.gapDeadline()))
                : change(message, entry);
    }

    /** What must be recorded; empty if the message is completed, or stays as it is. */
    public Optional<QueueChange> change(QueuedMessage message, BatchEntry<?> entry) {
        Outcome<?> outcome = entry.outcome();
        if (entry.left() != null) {
            return Optional.of(new QueueChange(
                    message,
                    QueueMove.GIVE_BACK,
                    entry.pause(),
                    Rejection.UNKNOWN_TYPE.name(),
                    run("Rejected", entry.left(), Duration.ZERO, false)));
        }
        if (outcome instanceof Outcome.Failed<?> failed) {
            return Optional.of(failed(message, failed, entry.attempt().handling()));
        }
        if (outcome instanceof Outcome.Rejected<?> rejected) {
            return Optional.of(new QueueChange(
                    message,
                    QueueMove.PARK,
                    Duration.ZERO,
                    rejected.reason().name(),
                    run("Rejected", rejected.detail(), Duration.ZERO, false)));
        }
        if (outcome instanceof Outcome.Suppressed) {
            return Optional.of(new QueueChange(message, QueueMove.COMPLETE, Duration.ZERO, "SUPPRESSED", null));
        }
        if (outcome instanceof Outcome.Stale) {
            return Optional.of(new QueueChange(message, QueueMove.COMPLETE, Duration.ZERO, "STALE", null));
        }
        if (outcome instanceof Outcome.Busy && entry.attempt().consumer().isSequenced()) {
            // Somebody else is working on its stream; looking again at once would only disturb.
            return Optional.of(message.overdue() ? held(message, entry.pause()) : back(message, entry.pause()));
        }
        boolean undecided = outcome instanceof Outcome.Held || outcome instanceof Outcome.Busy;
        return leased && undecided ? Optional.of(back(message, Duration.ZERO)) : Optional.empty();
    }

    /** For one that was taken and not begun. */
    public Optional<QueueChange> unused(QueuedMessage message) {
        return leased ? Optional.of(back(message, Duration.ZERO)) : Optional.empty();
    }

    /** For a suspect, while another one is running. */
    public QueueChange putOff(QueuedMessage message, Duration delay) {
        return back(message, delay);
    }

    /**
     * For one whose handler never returned. It was started and did not end, so from now on it runs alone; each time costs a
     * thread, so there are few.
     *
     * @param culprit whether it was the only one in that call
     */
    public List<QueueChange> stuck(QueuedMessage message, Outcome.Failed<?> failed, boolean culprit) {
        if (culprit && failed.kind() == Failure.TERMINAL) {
            return List.of(failed(message, failed, Duration.ZERO));
        }
        Throwable cause = failed.cause();
        RetryPolicy retry = policy.retry().forFailure(cause);
        QueuedMessage started = leased ? message : message.leased();
        boolean parks = culprit
                && (started.started() - started.failed() >= MOST_STUCK || started.started() >= retry.maxAttempts());
        QueueChange.FailedRun run = run(cause, Duration.ZERO, false);
        QueueChange end = parks
                ? new QueueChange(started, QueueMove.PARK, Duration.ZERO, STUCK, run)
                : new QueueChange(started, QueueMove.FAIL, retry.delay(started.started(), cause), "RETRY", run);
        return leased
                ? List.of(end)
                : List.of(new QueueChange(message, QueueMove.LEASE, policy.suspectLease(), "", null), end);
    }

    /** For one that is held again, and whose resolver never returned: to ask it again would cost another thread. */
    QueueChange stuckInGap(QueuedMessage message, HandlerTimeoutException cause) {
        return new QueueChange(
                message.leased(), // which has the fence of one that was moved once
                QueueMove.PARK,
                Duration.ZERO,
                STUCK,
                run(cause, Duration.ZERO, false));
    }

    /** Whether it only shares the others' fate. */
    boolean isInnocent(BatchEntry<?> entry) {
        return entry.outcome() instanceof Outcome.Failed<?> failed && failed.kind() == Failure.INFRASTRUCTURE;
    }

    /**
     * Started alone as often as allowed without an end: it takes the processes down that run it. The first start does not count,
     * for that one was together with others.
     */
    public boolean isDeadly(QueuedMessage message) {
        return message.started() - message.failed() > policy.retry().maxAttempts();
    }

    /** The same for one that was leased to find out, which counts as a start. */
    public boolean isDeadlyNow(QueuedMessage leased) {
        return leased.started() - leased.failed() > policy.retry().maxAttempts() + 1;
    }

    public QueueChange deadly(QueuedMessage message) {
        return new QueueChange(
                message,
                QueueMove.PARK,
                Duration.ZERO,
                "CRASHED",
                run(
                        "Crash",
                        "its handler was started " + message.started() + " times, and " + message.failed()
                                + " of these runs came to an end: the others ended with their process",
                        Duration.ZERO,
                        false));
    }

    /** For a message that a listener could not do, before it was stored. */
    QueueChange.FailedRun ofDelivery(String reason, @Nullable Throwable cause) {
        return cause == null ? run("Rejected", reason, Duration.ZERO, false) : run(cause, Duration.ZERO, true);
    }

    private QueueChange held(QueuedMessage message, Duration delay) {
        return new QueueChange(message, QueueMove.HOLD, delay, "HELD", null);
    }

    private QueueChange back(QueuedMessage message, Duration delay) {
        return new QueueChange(message, QueueMove.GIVE_BACK, delay, "", null);
    }

    private QueueChange failed(QueuedMessage message, Outcome.Failed<?> failed, Duration took) {
        Throwable cause = failed.cause();
        QueueChange.FailedRun run = run(cause, took, true);
        return switch (failed.kind()) {
            case INFRASTRUCTURE -> new QueueChange(message, QueueMove.GIVE_BACK, AFTER_A_FAULT, "UNDONE", run);
            case TERMINAL -> new QueueChange(message, QueueMove.PARK, Duration.ZERO, reason(cause, "TERMINAL"), run);
            case RETRYABLE -> {
                RetryPolicy retry = policy.retry().forFailure(cause);
                int failures = message.failed() + 1;
                int starts = leased ? message.started() : message.started() + 1;
                // The first start that came to no end was together with others, and is no attempt.
                yield Math.max(failures, starts - 1) >= retry.maxAttempts()
                        ? new QueueChange(message, QueueMove.PARK, Duration.ZERO, reason(cause, "EXHAUSTED"), run)
                        : new QueueChange(message, QueueMove.FAIL, retry.delay(failures, cause), "RETRY", run);
            }
        };
    }

    /** What a person must look at first has a word of its own. */
    private static String reason(Throwable cause, String otherwise) {
        if (cause instanceof StepMismatchException) {
            return StepMismatchException.REASON;
        }
        return cause instanceof EffectUnknownException ? EffectUnknownException.REASON : otherwise;
    }

    private QueueChange.FailedRun run(String type, @Nullable String text, Duration took, boolean ran) {
        return new QueueChange.FailedRun(type, capped(Causes.redacted(text, redaction)), took, ran);
    }

    /** Of the exception that matters, with its text through the redaction. */
    private QueueChange.FailedRun run(Throwable cause, Duration took, boolean ran) {
        Throwable first = Causes.unwrapped(cause);
        byte[] text = capped(Causes.redacted(first, redaction));
        return new QueueChange.FailedRun(first.getClass().getName(), text, took, ran);
    }

    /** Bytes, because what an exception says may be anything; cut where it becomes too much. */
    private static byte[] capped(@Nullable String text) {
        String some = text == null ? "" : text.substring(0, Math.min(text.length(), LONGEST_ERROR));
        byte[] bytes = some.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= LONGEST_ERROR ? bytes : java.util.Arrays.copyOf(bytes, LONGEST_ERROR);
    }
}
