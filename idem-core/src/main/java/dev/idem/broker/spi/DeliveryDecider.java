package dev.idem.broker.spi;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Rejection;
import dev.idem.RetryPolicy;
import dev.idem.Settlement;
import dev.idem.broker.DeadLetter;
import dev.idem.internal.incident.Causes;
import dev.idem.internal.incident.Incident;
import dev.idem.internal.incident.Incidents;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What an adapter does about an outcome: acknowledges, sets aside, tries again later, or waits for the store. Only failures
 * of the handler count as attempts. Thread-safe.
 */
public final class DeliveryDecider {
    private static final Duration BUSY = Duration.ofMillis(200);
    private static final Duration BEHIND_ANOTHER = Duration.ofMillis(20);
    private static final Duration OUTAGE = Duration.ofSeconds(1);

    private final Consumer consumer;
    private final RetryPolicy retry;
    private final Incidents incidents = new Incidents();

    public DeliveryDecider(Consumer consumer, RetryPolicy retry) {
        this.consumer = Objects.requireNonNull(consumer, "consumer");
        this.retry = Objects.requireNonNull(retry, "retry");
    }

    /** What to do about one delivery. */
    public sealed interface Decision {
        /** The broker may forget it. */
        record Acknowledge() implements Decision {}

        /**
         * Publish this, and when the broker has it, acknowledge.
         *
         * @param cause what the handler threw, if that is why
         * @param parkable whether the inbox could keep it instead: it has a key that is free, and a handler
         */
        record SetAside(DeadLetter letter, Optional<Throwable> cause, boolean parkable) implements Decision {}

        /**
         * Try again later.
         *
         * @param failures how often the handler has failed by now
         */
        record TryAgain(Duration delay, int failures) implements Decision {}

        /** The store does not answer: keep the message, and wait for the store. */
        record Wait(Throwable cause) implements Decision {}
    }

    /**
     * For a listener of one's own, one message after the other: takes it through the inbox, and again as the retry policy
     * says, until it is known what the broker must be told. What waits, waits on the caller's thread: for the next try, for a
     * twin, or for a store that does not answer, however long that takes. Only failures of the handler count.
     *
     * @return empty if the broker may forget the message; else the letter that must be published first
     * @throws IdemException if the thread was interrupted meanwhile: the broker must be told nothing, and delivers it again
     */
    public Optional<DeadLetter> untilDecided(Inbox inbox, Message message) {
        int failures = 0;
        while (true) {
            Outcome<?> outcome = inbox.acceptAll(consumer, List.of(message)).get(0);
            Decision decision = orPark(decide(outcome, failures), message, inbox);
            if (decision instanceof Decision.Acknowledge) {
                return Optional.empty();
            }
            if (decision instanceof Decision.SetAside aside) {
                tell(outcome, aside, message);
                return Optional.of(aside.letter());
            }
            if (decision instanceof Decision.TryAgain again) {
                failures = again.failures();
                sleep(again.delay());
            } else {
                sleep(OUTAGE);
            }
        }
    }

    /** A message that was tried as often as it may is given up here; of all others the inbox has told. */
    void tell(Outcome<?> outcome, Decision.SetAside aside, Message message) {
        if (outcome.settlement() != Settlement.RETRY) {
            return;
        }
        Optional<String> place = message.position().map(at -> at.stream() + "-" + at.partition() + "@" + at.offset());
        incidents.tellOnce(new Incident(
                Incident.Kind.SET_ASIDE,
                consumer.name(),
                Incident.nameOf(message.id(), place),
                aside.letter().reason(),
                "",
                aside.cause().orElse(null),
                aside.letter().attempts(),
                consumer.redaction()));
    }

    /** Tells what was only counted by now. */
    void tellRest() {
        incidents.close();
    }

    private static void sleep(Duration pause) {
        try {
            TimeUnit.NANOSECONDS.sleep(pause.toNanos());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IdemException("Interrupted while a message had to wait; acknowledge nothing", stop);
        }
    }

    /** Decides, for a message whose handler has failed so often before. */
    public Decision decide(Outcome<?> outcome, int failedBefore) {
        return switch (outcome.settlement()) {
            case ACK -> new Decision.Acknowledge();
            case DEAD_LETTER -> aside(outcome, failedBefore);
            case RETRY -> again(outcome, failedBefore);
        };
    }

    /**
     * Keeps in the inbox what would be set aside, where the consumer wants that and the inbox can; all other decisions stay as
     * they are.
     */
    public Decision orPark(Decision decision, Message message, Inbox inbox) {
        if (!(decision instanceof Decision.SetAside aside) || !aside.parkable || !consumer.isParking()) {
            return decision;
        }
        Outcome<?> kept;
        try {
            kept = inbox.park(consumer, message, aside.letter.reason(), aside.cause.orElse(null));
        } catch (RuntimeException unanswered) {
            return new Decision.Wait(unanswered);
        }
        if (kept.settlement() == Settlement.ACK) {
            return new Decision.Acknowledge();
        }
        if (kept instanceof Outcome.Busy) {
            return new Decision.TryAgain(jittered(BUSY), aside.letter.attempts());
        }
        boolean outage = kept instanceof Outcome.Failed<?> failed && failed.kind() == Failure.INFRASTRUCTURE;
        return outage ? new Decision.Wait(((Outcome.Failed<?>) kept).cause()) : decision;
    }

    private Decision.SetAside aside(Outcome<?> outcome, int failedBefore) {
        DeadLetter letter = letter(outcome, failedBefore);
        if (outcome instanceof Outcome.Failed<?> failed) {
            return new Decision.SetAside(letter, Optional.of(failed.cause()), isParkable(failed.cause()));
        }
        boolean unread = outcome instanceof Outcome.Rejected<?> rejected && rejected.reason() == Rejection.UNDECODABLE;
        return new Decision.SetAside(letter, Optional.empty(), unread);
    }

    /** What a handler has committed behind our back has its marker, and would be taken for done. */
    private static boolean isParkable(Throwable cause) {
        return !(cause instanceof BrokenTransactionException broken && broken.leftBehind());
    }

    private Decision again(Outcome<?> outcome, int failedBefore) {
        if (!(outcome instanceof Outcome.Failed<?> failed)) {
            Duration delay = outcome instanceof Outcome.Busy ? jittered(BUSY) : BEHIND_ANOTHER;
            return new Decision.TryAgain(delay, failedBefore);
        }
        if (failed.kind() == Failure.INFRASTRUCTURE) {
            return new Decision.Wait(failed.cause());
        }
        int failures = failedBefore + 1;
        Optional<Duration> delay = retry.next(failures, failed.cause());
        return delay.isPresent()
                ? new Decision.TryAgain(delay.get(), failures)
                : new Decision.SetAside(
                        letter("EXHAUSTED", null, failed.cause(), failures),
                        Optional.of(failed.cause()),
                        isParkable(failed.cause()));
    }

    private DeadLetter letter(Outcome<?> outcome, int failedBefore) {
        if (outcome instanceof Outcome.Failed<?> failed) {
            return letter("FAILED", null, failed.cause(), failedBefore + 1);
        }
        if (outcome instanceof Outcome.Rejected<?> rejected) {
            return letter("REJECTED", rejected.reason() + ": " + rejected.detail(), null, failedBefore);
        }
        if (outcome instanceof Outcome.Conflict<?> conflict) {
            String detail = "another payload was accepted under this id at " + conflict.markedAt();
            return letter("CONFLICT", detail, null, failedBefore);
        }
        if (outcome instanceof Outcome.Undecidable<?> undecidable) {
            String detail = "older than the horizon, " + undecidable.horizon();
            return letter("UNDECIDABLE", detail, null, failedBefore);
        }
        return letter(outcome.getClass().getSimpleName(), null, null, failedBefore);
    }

    private DeadLetter letter(String reason, @Nullable String detail, @Nullable Throwable cause, int attempts) {
        return new DeadLetter(
                consumer.name(),
                reason,
                Optional.ofNullable(detail).or(() -> textOf(cause)),
                Optional.ofNullable(cause)
                        .map(c -> Causes.unwrapped(c).getClass().getName()),
                attempts,
                Instant.now(),
                consumer.policy().replay() == Policy.Replay.FORBIDDEN,
                Map.of());
    }

    private Optional<String> textOf(@Nullable Throwable cause) {
        return Optional.ofNullable(cause)
                .map(c -> Causes.text(Causes.unwrapped(c), consumer.redaction()))
                .filter(text -> !text.isEmpty());
    }

    private static Duration jittered(Duration middle) {
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(middle.toNanos(), 2 * middle.toNanos()));
    }
}
