package dev.idem.broker;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Position;
import dev.idem.broker.Lane.Entry;
import dev.idem.broker.Triage.Decision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes a batch through the inbox and settles each delivery; answers those that must come again or be published. */
final class Work<D> {
    private static final Logger log = LoggerFactory.getLogger(Lanes.class);
    private static final long LONGEST_WAIT_MILLIS = 3_000;

    private final Inbox inbox;
    private final Consumer consumer;
    private final Triage triage;
    private final Settler<D> settler;
    private final Pace pace;

    Work(Inbox inbox, Consumer consumer, Triage triage, Settler<D> settler, Pace pace) {
        this.inbox = inbox;
        this.consumer = consumer;
        this.triage = triage;
        this.settler = settler;
        this.pace = pace;
    }

    /**
     * What must come again.
     *
     * @param due when, in the terms of {@link System#nanoTime}
     */
    record Later<D>(Entry<D> entry, long due) {
        static <D> Later<D> in(Entry<D> entry, Duration delay) {
            return new Later<>(entry, System.nanoTime() + delay.toNanos());
        }
    }

    /**
     * What became of a batch.
     *
     * @param later what must come again, in order
     * @param copies what must be published first: dead letters, and messages that the broker keeps for a while
     */
    record Result<D>(List<Later<D>> later, List<Entry<D>> copies) {
        static <D> Result<D> none() {
            return new Result<>(List.of(), List.of());
        }

        private static <D> Result<D> begun() {
            return new Result<>(new ArrayList<>(), new ArrayList<>());
        }
    }

    Result<D> on(List<Entry<D>> batch) {
        Result<D> result = Result.begun();
        List<Outcome<?>> outcomes;
        try {
            outcomes = inbox.acceptAll(
                    consumer, batch.stream().map(e -> e.delivery.message()).toList());
        } catch (RuntimeException unexpected) { // the inbox answers what happens to messages, so this is not about them
            log.error("{}: the inbox did not answer; tried again", consumer.name(), unexpected);
            pace.failed(unexpected);
            batch.forEach(entry -> result.later.add(Later.in(entry, Duration.ZERO)));
            return result;
        }
        settle(batch, outcomes, result);
        return result;
    }

    /**
     * Behind a letter that is not out yet nothing of its key is decided: where a mark says what is done, the mark would pass a
     * message that has neither its effect nor its letter.
     */
    private void settle(List<Entry<D>> entries, List<Outcome<?>> outcomes, Result<D> result) {
        Optional<Throwable> outage = Optional.empty();
        boolean answered = false;
        Set<Object> stuck = new HashSet<>();
        for (int i = 0; i < entries.size(); i++) {
            Entry<D> entry = entries.get(i);
            Decision decision = stuck.contains(entry.order) // then it is decided when it comes again
                    ? triage.decide(outcomes.get(i), entry.failures)
                    : triage.orPark(triage.decide(outcomes.get(i), entry.failures), entry.delivery.message(), inbox);
            answered |= !(decision instanceof Decision.Wait);
            if (decision instanceof Decision.Acknowledge) {
                acknowledge(entry);
            } else if (stuck.contains(entry.order)) {
                result.later.add(Later.in(entry, Duration.ZERO));
            } else if (decision instanceof Decision.SetAside aside) {
                entry.letter = aside.letter();
                stuck.add(entry.order);
                result.copies.add(entry);
            } else if (decision instanceof Decision.TryAgain again) {
                entry.failures = again.failures();
                entry.postponed = again.delay();
                if (settler.canPostpone(again.delay())) {
                    result.copies.add(entry);
                } else {
                    result.later.add(Later.in(entry, again.delay()));
                }
            } else if (decision instanceof Decision.Wait wait) {
                outage = Optional.of(wait.cause());
                entry.waits++;
                result.later.add(Later.in(entry, patience(entry.waits)));
            }
        }
        if (answered) {
            pace.succeeded();
        } else {
            outage.ifPresent(pace::failed);
        }
    }

    /** A message that never gets an answer, though others do, waits by itself and does not hold them up. */
    private static Duration patience(int waits) {
        return Duration.ofMillis(Math.min(LONGEST_WAIT_MILLIS, 25L << Math.min(waits, 20)));
    }

    private void acknowledge(Entry<D> entry) {
        try {
            settler.acknowledge(entry.delivery.origin());
        } catch (RuntimeException failure) { // it comes again, and will be a duplicate
            log.debug("{}: could not be acknowledged", consumer.name(), failure);
        }
    }

    /** A decision once made stays: only the publishing is tried again, and the handler does not run again. */
    void publish(Entry<D> entry) throws Exception {
        Message message = entry.delivery.message();
        DeadLetter letter = entry.letter;
        if (letter == null) {
            settler.postpone(entry.delivery.origin(), message, entry.postponed, entry.failures);
            return;
        }
        if (!entry.letterIsOut) {
            settler.setAside(entry.delivery.origin(), message, letter);
            entry.letterIsOut = true;
        }
        passOver(message);
    }

    /** A partition that keeps a mark has stopped at this message, and would wait for it. */
    private void passOver(Message message) {
        Optional<Position> position = consumer.isWatermark() ? message.position() : Optional.empty();
        position.map(at -> new Position(at.stream(), at.partition(), at.offset() + 1))
                .ifPresent(next -> inbox.settledBefore(consumer, next));
    }
}
