package dev.idem.internal.event;

import dev.idem.Failure;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.incident.Incident;
import dev.idem.internal.incident.Incident.Kind;
import dev.idem.internal.incident.Incidents;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Gap;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueuedMessage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Says which outcomes, and which moves of stored messages, a person should hear of. Thread-safe. */
public final class IncidentReports implements AutoCloseable {
    private static final String TERMINAL = "TERMINAL";

    private final Incidents incidents = new Incidents();

    /** Of a delivery whose caller obeys the outcome. How often it came before is not known here. */
    public void settled(ConsumerPlan consumer, Message message, Outcome<?> outcome) {
        if (outcome instanceof Outcome.Failed<?> failed) {
            failed(consumer, message, failed);
        } else if (outcome instanceof Outcome.Rejected<?> rejected) {
            tell(Kind.REJECTED, consumer, message, rejected.reason().name(), rejected.detail());
        } else if (outcome instanceof Outcome.Conflict<?> conflict) {
            String detail = "another payload was accepted under its key at " + conflict.markedAt();
            tell(Kind.CONFLICT, consumer, message, "", detail);
        } else if (outcome instanceof Outcome.Undecidable<?> undecidable) {
            String detail = "it is older than the horizon, " + undecidable.horizon();
            tell(Kind.UNDECIDABLE, consumer, message, "", detail);
        }
    }

    private void failed(ConsumerPlan consumer, Message message, Outcome.Failed<?> failed) {
        if (failed.kind() == Failure.TERMINAL) {
            incidents.tellOnce(of(Kind.SET_ASIDE, consumer, message, TERMINAL, failed.cause(), 0));
        } else if (failed.kind() == Failure.RETRYABLE) {
            incidents.tellOnce(of(Kind.FAILED, consumer, message, "", failed.cause(), 1));
        }
    }

    /** The inbox keeps what a listener would have set aside, which may have been told when its handler failed. */
    public void parked(ConsumerPlan consumer, Message message, String reason, @Nullable Throwable cause) {
        incidents.tellOnce(of(Kind.PARKED, consumer, message, reason, cause, 0));
    }

    /**
     * Of a stored message, whose row knows how often it has failed before. Of two workers that had the same row, one after the
     * other, one has recorded its verdict: it is told once for each version of the row.
     */
    public void moved(ConsumerPlan consumer, QueuedMessage stored, QueueChange change, Outcome<?> outcome) {
        Throwable cause = outcome instanceof Outcome.Failed<?> failed ? failed.cause() : null;
        QueueChange.FailedRun run = change.run();
        int failures = stored.failed() + (run != null && run.ran() ? 1 : 0);
        if (change.move() == QueueMove.PARK) {
            String rest = restOf(consumer, stored);
            String detail = outcome instanceof Outcome.Rejected<?> rejected
                    ? rejected.detail() + (rest.isEmpty() ? "" : "; " + rest)
                    : rest;
            tell(Kind.PARKED, consumer, stored, change.reason(), detail, cause, failures);
        } else if (change.move() == QueueMove.FAIL && failures <= 1) {
            tell(Kind.FAILED, consumer, stored, "", "", cause, failures);
        }
    }

    /** It is parked without having been run, because it seems to end the processes that run it. */
    public void deadly(ConsumerPlan consumer, QueuedMessage stored, QueueChange change) {
        String detail = "it was started " + stored.started() + " times, and " + stored.failed()
                + " of these runs came to an end: the others ended with their process";
        String rest = restOf(consumer, stored);
        String all = rest.isEmpty() ? detail : detail + "; " + rest;
        tell(Kind.PARKED, consumer, stored, change.reason(), all, null, stored.failed());
    }

    /** What the store parks in the same transaction, and cannot tell. */
    private static String restOf(ConsumerPlan consumer, QueuedMessage parked) {
        boolean parksRest = consumer.queue()
                .filter(policy -> policy.isOrdered() && policy.whenParked() == QueuePolicy.WhenParked.PARK)
                .isPresent();
        return parksRest && parked.message().orderingKey().isPresent()
                ? "what is held behind it in its ordering key is parked with it (BEHIND)"
                : "";
    }

    /**
     * The resolver has given up a stream. Its name is left out, because it may come from a header.
     *
     * @param message whose deadline was over
     * @param parked how many messages of the stream were parked now
     */
    public void gapParked(ConsumerPlan consumer, Message message, long version, Gap gap, int parked) {
        String reason = version == gap.next() ? "GAP" : "BEHIND";
        Duration deadline = consumer.sequence().orElseThrow().gapDeadline();
        String waited = parked == 1 ? "1 message waited" : parked + " messages waited";
        String detail = "version " + gap.missing() + " of its stream has not come within " + deadline + ", and "
                + waited + " for it; see idem inbox gaps, idem inbox pass, and then idem inbox retry";
        tell(Kind.PARKED, consumer, message, reason, detail);
    }

    private void tell(
            Kind kind,
            ConsumerPlan consumer,
            QueuedMessage stored,
            String reason,
            String detail,
            @Nullable Throwable cause,
            int failures) {
        Incident incident = new Incident(
                kind, consumer.name(), nameOf(stored.message()), reason, detail, cause, failures, consumer.redaction());
        incidents.tellOnce(incident, stored.id() + "@" + stored.fence());
    }

    private void tell(Kind kind, ConsumerPlan consumer, Message message, String reason, String detail) {
        incidents.tell(
                new Incident(kind, consumer.name(), nameOf(message), reason, detail, null, 0, consumer.redaction()));
    }

    private static Incident of(
            Kind kind, ConsumerPlan consumer, Message message, String reason, @Nullable Throwable cause, int failures) {
        return new Incident(kind, consumer.name(), nameOf(message), reason, "", cause, failures, consumer.redaction());
    }

    private static String nameOf(Message message) {
        return Incident.nameOf(
                message.id(), message.position().map(at -> at.stream() + "-" + at.partition() + "@" + at.offset()));
    }

    @Override
    public void close() {
        incidents.close();
    }
}
