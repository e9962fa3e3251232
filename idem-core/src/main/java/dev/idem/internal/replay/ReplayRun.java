package dev.idem.internal.replay;

import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.replay.EffectForecast;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
import dev.idem.replay.Replayer;
import dev.idem.spi.ReplayStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One executor's part of a session: reads, delivers at the session's rate, and writes down how far it is after every few
 * messages. If it ends anywhere, those few are delivered again, and the inbox knows them.
 */
final class ReplayRun {
    private static final Logger log = LoggerFactory.getLogger(Replayer.class);
    private static final int MOST_TOGETHER = 100;
    private static final Duration QUICK = Duration.ofMillis(100);
    private static final Duration SLOW = Duration.ofMillis(500);

    private final ConsumerPlan consumer;
    private final Map<String, ReplaySource> sources;
    private final ReplayLease lease;
    private final ReplaySession session;
    private final Replaying replaying;
    private final long nanosBetween;
    private long due = System.nanoTime();
    private int together = 1;
    private boolean moved;

    ReplayRun(
            Inbox inbox,
            ConsumerPlan consumer,
            Map<String, ReplaySource> sources,
            RetryPolicy retry,
            ReplayStore store,
            ReplayLease lease) {
        this.consumer = consumer;
        this.sources = sources;
        this.lease = lease;
        session = lease.session();
        nanosBetween = Duration.ofSeconds(1).toNanos() / session.perSecond();
        replaying = session.dryRun()
                ? new ReplayCount(consumer, inbox.store(), store, session.effects())
                : new ReplayDelivery(inbox, consumer, retry, lease);
    }

    /** What is done with messages; null when it ended before all of them were decided. */
    interface Replaying {
        @Nullable
        Decided decide(List<Message> messages);
    }

    /**
     * @param error about the last one that was given up
     * @param effects of a dry run, from the beginning
     */
    record Decided(
            ReplaySession.Counts counts,
            @Nullable String error,
            @Nullable List<EffectForecast> effects) {
        Decided withErased(int messages) {
            return new Decided(counts.plus(erased(messages)), error, effects);
        }

        /** So many that were read, and of which nothing is left to run. */
        private static ReplaySession.Counts erased(int messages) {
            return new ReplaySession.Counts(messages, 0, 0, messages, 0, 0, 0);
        }
    }

    /** False when the source could not be read now. What is thrown is trouble of the store. */
    boolean run() {
        try {
            ReplaySpec spec = ReplaySpec.parse(session.source());
            ReplaySource source = sources.get(spec.scheme());
            if (source == null) {
                throw new IllegalArgumentException("the executor of " + consumer.name() + " has no source '"
                        + spec.scheme() + "', but " + sources.keySet());
            }
            if (consumer.isWatermark() && !consumer.policy().rebuilds()) {
                throw new IllegalArgumentException(
                        "consumer " + consumer.name() + " keeps marks, and what is replayed"
                                + " would move them past messages that are still to come: only a policy that rebuilds can be used");
            }
            try (ReplaySource.Reading reading = source.open(session, spec)) {
                untilOver(reading);
            }
        } catch (IllegalArgumentException hopeless) {
            lease.end(ReplaySession.State.FAILED, hopeless.getMessage());
        } catch (RuntimeException outage) {
            // Of others than ours only the type is told: they may quote a payload.
            String error = outage instanceof IdemException
                    ? outage.getMessage()
                    : outage.getClass().getName();
            Decided nothing = new Decided(ReplaySession.Counts.none(), error, null);
            lease.progress(step(null, OptionalLong.empty(), nothing));
            log.warn("{}: replay session {} is tried again later: {}", consumer.name(), session.name(), error);
            return false;
        }
        return true;
    }

    /** Whether it came further than the executor before it. */
    boolean hasMoved() {
        return moved;
    }

    private void untilOver(ReplaySource.Reading reading) {
        for (boolean going = !lease.isOver(); going; ) {
            ReplaySource.Batch batch = reading.next(together);
            if (!paced(batch.messages().size())) {
                return;
            }
            long start = System.nanoTime();
            Decided decided = replaying.decide(batch.messages());
            if (decided == null) {
                return;
            }
            adapt(Duration.ofNanos(System.nanoTime() - start));
            going = lease.progress(step(batch.cursor(), reading.total(), decided.withErased(batch.erased())));
            moved |= !batch.messages().isEmpty();
            if (batch.end() && going) {
                lease.end(ReplaySession.State.DONE, null);
                return;
            }
        }
    }

    private ReplayStore.Step step(@Nullable String cursor, OptionalLong total, Decided decided) {
        return new ReplayStore.Step(
                consumer.policy().replay(), cursor, total, decided.counts(), decided.error(), decided.effects());
    }

    /** So many that a pause is not waited for long, and the rate is kept evenly. */
    private void adapt(Duration took) {
        long smooth = Math.max(1, Math.min(MOST_TOGETHER, session.perSecond() / 4));
        if (took.compareTo(QUICK) < 0) {
            together = (int) Math.min(together * 2L, smooth);
        } else if (took.compareTo(SLOW) > 0) {
            together = Math.max(1, together / 2);
        }
    }

    /** A dry run sends nothing, so it need not wait. */
    private boolean paced(int messages) {
        boolean going = session.dryRun() ? !lease.isOver() : lease.await(Duration.ofNanos(due - System.nanoTime()));
        due = Math.max(due, System.nanoTime()) + messages * nanosBetween;
        return going;
    }
}
