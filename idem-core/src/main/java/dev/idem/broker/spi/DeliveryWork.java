package dev.idem.broker.spi;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Position;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.spi.DeliveryDecider.Decision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes a batch through the inbox and settles each delivery; answers those that must come again or be published. */
final class DeliveryWork<D> {
    private static final Logger log = LoggerFactory.getLogger(KeyedExecutor.class);
    private static final long LONGEST_WAIT_MILLIS = 3_000;

    private final Inbox inbox;
    private final Consumer consumer;
    private final DeliveryDecider triage;
    private final Settler<D> settler;
    private final Pace pace;

    DeliveryWork(Inbox inbox, Consumer consumer, DeliveryDecider triage, Settler<D> settler, Pace pace) {
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
        List<Entry<D>> asked = undecided(batch);
        List<Outcome<?>> outcomes = List.of();
        try {
            if (!asked.isEmpty()) {
                outcomes = inbox.acceptAll(
                        consumer, asked.stream().map(e -> e.delivery.message()).toList());
            }
        } catch (RuntimeException unexpected) { // the inbox answers what happens to messages, so this is not about them
            log.error("{}: the inbox did not answer; tried again", consumer.name(), unexpected);
            pace.failed(unexpected);
            batch.forEach(entry -> result.later.add(Later.in(entry, Duration.ZERO)));
            return result;
        }
        settle(batch, asked, outcomes, result);
        return result;
    }

    /** Those without a letter, and not behind one: where a mark says what is done, it would pass what has no letter yet. */
    private static <D> List<Entry<D>> undecided(List<Entry<D>> batch) {
        List<Entry<D>> undecided = new ArrayList<>(batch.size());
        Set<Object> letters = new HashSet<>();
        for (Entry<D> entry : batch) {
            if (entry.letter != null) {
                letters.add(entry.order);
            } else if (!letters.contains(entry.order)) {
                undecided.add(entry);
            }
        }
        return undecided;
    }

    /**
     * Behind a letter that is not out yet nothing of its key is set aside or parked. With marks so it is behind everything
     * that is not done, because a letter moves the mark.
     */
    private void settle(List<Entry<D>> batch, List<Entry<D>> asked, List<Outcome<?>> outcomes, Result<D> result) {
        Optional<Throwable> outage = Optional.empty();
        boolean answered = false;
        Set<Object> stuck = new HashSet<>();
        int next = 0;
        for (Entry<D> entry : batch) {
            boolean behind = stuck.contains(entry.order);
            if (next == asked.size() || asked.get(next) != entry) {
                keepDecided(entry, behind, result);
                stuck.add(entry.order);
                continue;
            }
            Outcome<?> outcome = outcomes.get(next++);
            Decision decision = triage.decide(outcome, entry.failures);
            if (!behind) {
                decision = triage.orPark(decision, entry.delivery.message(), inbox);
            }
            answered |= !(decision instanceof Decision.Wait);
            if (decision instanceof Decision.Acknowledge) {
                acknowledge(entry);
                continue;
            }
            if (decision instanceof Decision.SetAside aside) {
                setAside(entry, aside, behind, result);
                if (entry.letter != null) {
                    triage.tell(outcome, aside, entry.delivery.message());
                }
                stuck.add(entry.order);
            } else if (decision instanceof Decision.TryAgain again) {
                tryAgain(entry, again, behind, result);
            } else if (decision instanceof Decision.Wait wait) {
                outage = Optional.of(wait.cause());
                entry.waits++;
                result.later.add(Later.in(entry, patience(entry.waits)));
            }
            if (consumer.isWatermark()) {
                stuck.add(entry.order);
            }
        }
        if (answered) {
            pace.succeeded();
        } else {
            outage.ifPresent(pace::failed);
        }
    }

    private static <D> void keepDecided(Entry<D> entry, boolean behind, Result<D> result) {
        if (behind || entry.letter == null) {
            result.later.add(Later.in(entry, Duration.ZERO));
        } else {
            result.copies.add(entry);
        }
    }

    /** The decision stays also for one that is behind another, unless the inbox is to keep it when its turn has come. */
    private void setAside(Entry<D> entry, Decision.SetAside aside, boolean behind, Result<D> result) {
        if (!behind || !consumer.isParking()) {
            entry.letter = aside.letter();
        }
        if (behind) {
            result.later.add(Later.in(entry, Duration.ZERO));
        } else {
            result.copies.add(entry);
        }
    }

    private void tryAgain(Entry<D> entry, Decision.TryAgain again, boolean behind, Result<D> result) {
        entry.failures = again.failures();
        entry.postponed = again.delay();
        if (!behind && settler.canPostpone(again.delay())) {
            result.copies.add(entry);
        } else {
            result.later.add(Later.in(entry, again.delay()));
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
