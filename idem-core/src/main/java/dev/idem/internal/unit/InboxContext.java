package dev.idem.internal.unit;

import dev.idem.Failure;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.internal.consumer.BusyStreams;
import dev.idem.internal.consumer.ReplaySessions;
import dev.idem.internal.event.Events;
import dev.idem.internal.key.KeyGate;
import dev.idem.internal.outbox.Outboxes;
import dev.idem.internal.outbox.WorkerSignals;
import dev.idem.internal.thread.Permits;
import dev.idem.spi.Batch;
import dev.idem.spi.FaultHook;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.UnitOfWork;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What all units of one inbox share, whether they run one by one or in batches. Thread-safe. */
public record InboxContext(
        MarkerStore store,
        Events events,
        Deadlines deadlines,
        Nesting nesting,
        FaultHook steps,
        KeyGate gate,
        Permits permits,
        UnusedTransactions unused,
        BatchSizeLimit isolation,
        Outboxes outboxes,
        ReplaySessions sessions,
        BusyStreams busyStreams,
        UnknownCommits losses,
        GivenBack givenBack,
        RejectedFinder suspects,
        DuplicateLookup whereabouts,
        Rescue rescue) {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final int MOST_FRAMES = 30;

    public static InboxContext of(InboxOptions from, Events events, WorkerSignals signals) {
        return new InboxContext(
                from.store(),
                events,
                new Deadlines(),
                new Nesting(),
                from.steps(),
                new KeyGate(),
                new Permits(from.concurrency()),
                new UnusedTransactions(events),
                new BatchSizeLimit(),
                new Outboxes(from.store(), signals),
                new ReplaySessions(from.store()),
                new BusyStreams(),
                new UnknownCommits(),
                new GivenBack(),
                new RejectedFinder(),
                new DuplicateLookup(from.store()),
                Rescue.NONE);
    }

    /**
     * The same for a worker on stored messages, who has them for itself: a duplicate at the door must not wait for its
     * message's handler. It has a permit already, because it must not wait for one while it holds a connection.
     */
    public InboxContext forWorker(BatchSizeLimit shared, Rescue own) {
        return new InboxContext(
                store,
                events,
                deadlines,
                nesting,
                steps,
                new KeyGate(),
                new Permits(Integer.MAX_VALUE),
                unused,
                shared,
                outboxes,
                sessions,
                busyStreams,
                losses,
                givenBack,
                suspects,
                whereabouts,
                own);
    }

    /** The same for what a running handler asks for, which may go on although nothing else begins. */
    public InboxContext insideHandler() {
        return new InboxContext(
                store,
                events,
                deadlines,
                nesting,
                steps,
                gate,
                permits,
                unused,
                isolation,
                outboxes,
                sessions,
                busyStreams,
                losses,
                givenBack,
                suspects,
                whereabouts,
                rescue.insideHandler());
    }

    /** The thread of a worker does what its inbox wants: nobody asks it to stop by an interrupt, and no Error ends it. */
    public boolean isWorker() {
        return rescue != Rescue.NONE;
    }

    /** Lets errors pass after which a thread of the caller's should not go on; a worker's own must. */
    public void throwIfFatal(Throwable failure) {
        if (!isWorker()) {
            Failures.throwIfFatal(failure);
        }
    }

    /** What kind of failure it is; see {@link Failures}. An interrupt means nothing to a worker that may go on. */
    public Failure kindOf(Throwable failure, Delivery<?, ?> attempt) {
        return failure instanceof InterruptedException && isWorker() && rescue.goesOn()
                ? attempt.policy().classify(failure)
                : Failures.kindOf(failure, attempt, store);
    }

    /**
     * Watches a handler in a transaction.
     *
     * @param close ends the transaction
     */
    public Deadlines.Watch watch(UnitOfWork unit, List<MarkerKey> keys, Duration limit, Runnable close) {
        Thread thread = Thread.currentThread();
        Runnable free = () -> {
            unit.abandon();
            close.run();
        };
        return isWorker()
                ? deadlines.watchHolding(unit, free, limit, () -> stuck(keys, limit, thread, free))
                : deadlines.watch(unit, limit, () -> stuck(keys, limit, thread, close));
    }

    /**
     * Runs code of the user's that is in no unit: a lookup, say. When its time is up it is interrupted, and a thread that ignores
     * that is given up like one in a handler.
     *
     * @param free ends what the thread holds
     * @throws HandlerTimeoutException when it was too late
     */
    public <T> T inTime(List<MarkerKey> keys, Duration limit, Runnable free, Callable<T> code) throws Exception {
        Thread thread = Thread.currentThread();
        Deadlines.Watch watch = deadlines.watchAlone(free, limit, () -> stuck(keys, limit, thread, free));
        T answer;
        try {
            answer = code.call();
        } catch (Throwable failure) {
            if (watch.finish()) {
                throw tooLate(keys.get(0), limit, failure);
            }
            throw failure;
        }
        if (watch.finish()) {
            throw tooLate(keys.get(0), limit, null);
        }
        return answer;
    }

    /** Ends the transaction of another thread. */
    public static Runnable ending(Batch batch) {
        return () -> {
            batch.abandon();
            batch.close();
        };
    }

    /**
     * For a handler that ignores its deadline and an interrupt. Gives its thread up, if it is one of ours; what it answers
     * frees what the handler holds, says where it is stuck, and goes on without its thread.
     */
    public Runnable stuck(List<MarkerKey> keys, Duration limit, Thread thread, Runnable free) {
        if (!rescue.retire() && isWorker()) {
            return free; // a step inside a handler that is stuck itself
        }
        return () -> {
            MarkerKey key = keys.get(0);
            try {
                tellStuck(key, limit, thread);
            } finally {
                events.tell(l -> l.timedOut(key.consumer(), limit));
                rescue.replace(
                        keys,
                        new HandlerTimeoutException(
                                "Handler of " + key + " ignores its timeout of " + limit
                                        + " and an interrupt, and never gave its thread back. Give what it waits for a"
                                        + " timeout of its own",
                                null),
                        free);
            }
        };
    }

    private void tellStuck(MarkerKey key, Duration limit, Thread thread) {
        String where = Arrays.stream(thread.getStackTrace())
                .limit(MOST_FRAMES)
                .map(frame -> "\n\tat " + frame)
                .collect(Collectors.joining());
        log.warn(
                "{}: its handler ignores its timeout of {} and an interrupt; thread {} is stuck{}",
                key,
                limit,
                thread.getName(),
                where);
        events.tell(l -> l.handlerStuck(key.consumer(), thread.getName()));
    }

    public HandlerTimeoutException tooLate(MarkerKey key, Duration limit, @Nullable Throwable cause) {
        events.tell(l -> l.timedOut(key.consumer(), limit));
        return new HandlerTimeoutException(
                "Handler of " + key + " ran longer than " + limit
                        + ": rolled back. Raise the consumer's handlerTimeout or make the handler shorter",
                cause);
    }
}
