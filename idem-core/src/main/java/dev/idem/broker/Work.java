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

/** Takes a batch through the inbox and settles each delivery; answers those that must come again, in their order. */
final class Work<D> {
    private static final Logger log = LoggerFactory.getLogger(Lanes.class);
    private static final long LONGEST_PUBLISH_PAUSE_MILLIS = 30_000;
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

    List<Later<D>> on(List<Entry<D>> batch) {
        List<Later<D>> later = new ArrayList<>();
        List<Entry<D>> undecided = new ArrayList<>(batch.size());
        Set<Object> stuck = new HashSet<>();
        for (Entry<D> entry : batch) {
            if (stuck.contains(entry.order)) {
                later.add(Later.in(entry, Duration.ZERO));
            } else if (entry.letter == null) {
                undecided.add(entry);
            } else {
                publish(entry, entry.letter, stuck).ifPresent(later::add);
            }
        }
        if (undecided.isEmpty()) {
            return later;
        }
        List<Outcome<?>> outcomes;
        try {
            outcomes = inbox.acceptAll(
                    consumer, undecided.stream().map(e -> e.delivery.message()).toList());
        } catch (RuntimeException unexpected) { // the inbox answers what happens to messages, so this is not about them
            log.error("{}: the inbox did not answer; tried again", consumer.name(), unexpected);
            pace.failed(unexpected);
            undecided.forEach(entry -> later.add(Later.in(entry, Duration.ZERO)));
            return later;
        }
        settle(undecided, outcomes, stuck, later);
        return later;
    }

    /**
     * Behind a letter that is not out yet nothing of its key is decided: where a mark says what is done, the mark would pass a
     * message that has neither its effect nor its letter.
     */
    private void settle(List<Entry<D>> entries, List<Outcome<?>> outcomes, Set<Object> stuck, List<Later<D>> later) {
        Optional<Throwable> outage = Optional.empty();
        boolean answered = false;
        for (int i = 0; i < entries.size(); i++) {
            Entry<D> entry = entries.get(i);
            Decision decision = stuck.contains(entry.order) // then it is decided when it comes again
                    ? triage.decide(outcomes.get(i), entry.failures)
                    : triage.orPark(triage.decide(outcomes.get(i), entry.failures), entry.delivery.message(), inbox);
            answered |= !(decision instanceof Decision.Wait);
            if (decision instanceof Decision.Acknowledge) {
                acknowledge(entry);
            } else if (stuck.contains(entry.order)) {
                later.add(Later.in(entry, Duration.ZERO));
            } else if (decision instanceof Decision.SetAside aside) {
                publish(entry, aside.letter(), stuck).ifPresent(later::add);
            } else if (decision instanceof Decision.TryAgain again) {
                entry.failures = again.failures();
                if (!postponed(entry, again)) {
                    later.add(Later.in(entry, again.delay()));
                }
            } else if (decision instanceof Decision.Wait wait) {
                outage = Optional.of(wait.cause());
                entry.waits++;
                later.add(Later.in(entry, patience(entry.waits)));
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

    private boolean postponed(Entry<D> entry, Decision.TryAgain again) {
        Message message = entry.delivery.message();
        try {
            return settler.postpone(entry.delivery.origin(), message, again.delay(), again.failures());
        } catch (Exception failure) {
            interruptIfSo(failure);
            log.debug("{}: could not be handed back for later; waits here", consumer.name(), failure);
            return false;
        }
    }

    /** A decision once made stays: only the publishing is tried again, and the handler is left in peace. */
    private Optional<Later<D>> publish(Entry<D> entry, DeadLetter letter, Set<Object> stuck) {
        try {
            settler.setAside(entry.delivery.origin(), entry.delivery.message(), letter);
            passOver(entry.delivery.message());
            return Optional.empty();
        } catch (Exception failure) {
            interruptIfSo(failure);
            if (entry.publishFailures == 0) {
                log.warn(
                        "{}: a dead letter could not be published ({}); tried again, and its message is kept until then",
                        consumer.name(),
                        failure.getClass().getName());
            }
            log.debug("{}: a dead letter could not be published", consumer.name(), failure);
            entry.letter = letter;
            stuck.add(entry.order);
            entry.publishFailures++;
            long millis = Math.min(LONGEST_PUBLISH_PAUSE_MILLIS, 100L << Math.min(entry.publishFailures, 20));
            return Optional.of(Later.in(entry, Duration.ofMillis(millis)));
        }
    }

    /** A partition that keeps a mark has stopped at this message, and would wait for it. */
    private void passOver(Message message) {
        Optional<Position> position = consumer.isWatermark() ? message.position() : Optional.empty();
        position.map(at -> new Position(at.stream(), at.partition(), at.offset() + 1))
                .ifPresent(next -> inbox.settledBefore(consumer, next));
    }

    private static void interruptIfSo(Exception failure) {
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
    }
}
