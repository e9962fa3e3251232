package dev.idem.internal.unit;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.SequenceGuard;
import dev.idem.internal.consumer.SequencePlan;
import dev.idem.internal.key.Placement;
import dev.idem.internal.text.Text;
import dev.idem.spi.StreamVersion;
import dev.idem.spi.UnitOfWork;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The sequence guard for a message that is alone in its transaction, or joins one. */
final class UnitSequence {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private UnitSequence() {}

    /**
     * Locks the stream and judges the version. Empty when it is to be applied: then the stream is moved before the handler
     * runs, and a rollback takes it back.
     */
    static <T extends @Nullable Object> Optional<Outcome<T>> judge(
            Delivery<T, ?> attempt, UnitOfWork unit, Duration wait) {
        ConsumerPlan consumer = attempt.consumer();
        if (!consumer.isSequenced()) {
            return Optional.empty();
        }
        SequencePlan sequence = consumer.sequence().orElseThrow();
        if (sequence.place(attempt.message()) instanceof Placement.None none) {
            return Optional.of(none.rejected().outcome());
        }
        StreamVersion place = ((Placement.At) sequence.place(attempt.message())).place();
        SequenceGuard guard = new SequenceGuard(sequence, unit.streams());
        guard.lock(List.of(place), wait);
        SequenceGuard.Verdict verdict = guard.judge(place);
        if (verdict instanceof SequenceGuard.Verdict.Apply) {
            guard.move(List.of(place));
            return Optional.empty();
        }
        if (verdict instanceof SequenceGuard.Verdict.Stale stale) {
            return Optional.of(new Outcome.Stale<>(stale.current()));
        }
        if (verdict instanceof SequenceGuard.Verdict.NoBeginning unknown) {
            Failures.throwIfFatal(unknown.cause());
            log.warn(
                    "The beginning of stream {} could not be looked up",
                    Text.printable(place.stream()),
                    unknown.cause());
        }
        return Optional.of(
                verdict instanceof SequenceGuard.Verdict.Ahead ahead
                        ? new Outcome.Held<>(OptionalLong.of(ahead.missing()), false)
                        : new Outcome.Busy<>());
    }
}
