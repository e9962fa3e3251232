package dev.idem.internal.replay;

import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Position;
import dev.idem.RetryPolicy;
import dev.idem.Settlement;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.text.Text;
import dev.idem.replay.ReplaySession;
import dev.idem.spi.MarkerKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Delivers a session's messages to the inbox until each is decided. What must come again comes again before anything that
 * is behind it in the source, so the order of a key is kept. Used by one thread.
 */
final class ReplayDelivery implements ReplayRun.Replaying {
    /** How often a message is tried that stands behind a version which does not come. */
    private static final int MOST_WAITS = 8;

    private final Inbox inbox;
    private final ConsumerPlan consumer;
    private final RetryPolicy retry;
    private final ReplayLease lease;

    ReplayDelivery(Inbox inbox, ConsumerPlan consumer, RetryPolicy retry, ReplayLease lease) {
        this.inbox = inbox;
        this.consumer = consumer;
        this.retry = retry;
        this.lease = lease;
    }

    @Override
    public ReplayRun.@Nullable Decided decide(List<Message> messages) {
        Round round = new Round();
        List<Message> open = messages.stream().map(round::inSession).toList();
        while (!open.isEmpty()) {
            if (lease.isOver()) {
                return null;
            }
            open = round.deliver(open);
            if (!open.isEmpty() && !lease.await(round.pause)) {
                return null;
            }
        }
        return new ReplayRun.Decided(round.counts, round.error, null);
    }

    private final class Round {
        private final IdentityHashMap<Message, Integer> failures = new IdentityHashMap<>();
        private final IdentityHashMap<Message, Integer> waits = new IdentityHashMap<>();
        private final Set<Message> known = Collections.newSetFromMap(new IdentityHashMap<>());
        private ReplaySession.Counts counts = ReplaySession.Counts.none();
        private Duration pause = Duration.ZERO;
        private @Nullable String error;
        private int rounds;

        /** With its key, where a person may edit it before it is handled. */
        Message inSession(Message message) {
            MarkerKey key = message.markedAs()
                    .or(() -> consumer.isQueued() ? consumer.keyOf(message.inSession(null)) : Optional.empty())
                    .orElse(null);
            Message delivered = message.toBuilder()
                    .replaySession(lease.session().name())
                    .markedAs(key)
                    .build();
            if (message.markedAs().isPresent()) {
                known.add(delivered);
            }
            return delivered;
        }

        /** Answers those that must come again. */
        List<Message> deliver(List<Message> open) {
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer.consumer(), open);
            List<Message> again = new ArrayList<>();
            pause = Duration.ofMillis(Math.min(5_000, 20L << Math.min(rounds++, 10)));
            for (int i = 0; i < open.size(); i++) {
                Message message = open.get(i);
                if (outcomes.get(i).settlement() == Settlement.RETRY && isWorthIt(message, outcomes.get(i))) {
                    again.add(message);
                } else {
                    counts = counts.plus(counted(message, outcomes.get(i)));
                }
            }
            return again;
        }

        /** Only failures of the handler count, and so come to an end. */
        private boolean isWorthIt(Message message, Outcome<?> outcome) {
            if (outcome instanceof Outcome.Held<?> held && held.missing().isPresent()) {
                return waits.merge(message, 1, Integer::sum)
                        < MOST_WAITS; // the source may bring it with what is in hand
            }
            if (!(outcome instanceof Outcome.Failed<?> failed) || failed.kind() != Failure.RETRYABLE) {
                return true;
            }
            int count = failures.merge(message, 1, Integer::sum);
            RetryPolicy way = retry.forFailure(failed.cause());
            pause = way.delay(count, failed.cause());
            return count < way.maxAttempts();
        }

        private ReplaySession.Counts counted(Message message, Outcome<?> outcome) {
            long processed = outcome instanceof Outcome.Processed || outcome instanceof Outcome.Stored ? 1 : 0;
            // What its source knows to be this message was edited if its bytes are others.
            boolean edited = outcome instanceof Outcome.Conflict && known.contains(message);
            long duplicate = outcome instanceof Outcome.Duplicate || outcome instanceof Outcome.Stale || edited ? 1 : 0;
            long suppressed = outcome instanceof Outcome.Suppressed ? 1 : 0;
            long undecidable = outcome instanceof Outcome.Undecidable ? 1 : 0;
            long failed = outcome instanceof Outcome.Failed || outcome instanceof Outcome.Held ? 1 : 0;
            long rejected = 1 - processed - duplicate - suppressed - undecidable - failed;
            if (failed + rejected > 0) {
                error = said(message, outcome);
                goOnBehind(message);
            }
            return new ReplaySession.Counts(1, processed, duplicate, suppressed, undecidable, rejected, failed);
        }
    }

    /** By the id that lists show, so that erasing finds it; without what an exception says, which may quote the payload. */
    private String said(Message message, Outcome<?> outcome) {
        String what = outcome instanceof Outcome.Failed<?> failed
                ? failed.kind() + ", " + failed.cause().getClass().getName()
                : outcome instanceof Outcome.Rejected<?> rejected
                        ? rejected.reason().name()
                        : outcome.getClass().getSimpleName();
        String id = consumer.keyOf(message.inSession(null))
                .map(MarkerKey::id)
                .or(message::id)
                .orElse("without an id");
        return "message " + Text.printable(id) + ": " + what;
    }

    /** A watermark must be told that what was given up does not come again. */
    private void goOnBehind(Message message) {
        consumer.placeOf(message)
                .ifPresent(place -> inbox.settledBefore(
                        consumer.consumer(), new Position(place.stream(), place.partition(), place.offset() + 1)));
    }
}
