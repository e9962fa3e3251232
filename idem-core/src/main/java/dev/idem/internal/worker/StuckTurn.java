package dev.idem.internal.worker;

import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.internal.queue.Rescuable;
import dev.idem.internal.thread.Threads;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueStore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is to be done when a worker's thread is stuck in a handler: its failure is recorded, what it holds is freed, and
 * another worker takes its place. Each is repeated until it is done, or nobody wants it any more. Used once, on a thread that
 * may wait.
 *
 * <p>The record waits for the message's row, which the stuck transaction may have locked. So it stands in line before that
 * transaction ends: else another worker would take the message, and be stuck as well.
 */
final class StuckTurn {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final long IN_LINE_MILLIS = 100;
    private static final long RECORDED_MILLIS = 1_000;

    private final WorkerPool crew;
    private final QueueStore.Taking taking;
    private final List<QueueChange> changes = new ArrayList<>();
    private final @Nullable Rescuable turn;
    private boolean asked;

    /** @param owed what the worker could not record before */
    StuckTurn(WorkerPool crew, QueueStore.Taking taking, @Nullable Rescuable turn, List<QueueChange> owed) {
        this.crew = crew;
        this.taking = taking;
        this.turn = turn;
        this.changes.addAll(owed);
    }

    /** @param free ends the transaction in which the handler is stuck, if there is one */
    void end(QueueWorker worker, List<MarkerKey> keys, HandlerTimeoutException cause, Runnable free) {
        Thread record = recording(keys, cause);
        join(record, IN_LINE_MILLIS);
        repeat(keys.get(0) + ": what a stuck handler holds could not be freed; tried again", free);
        join(record, RECORDED_MILLIS); // not longer: the others' messages must not wait for this one
        repeat(keys.get(0) + ": a worker that is stuck could not be replaced; tried again", () -> crew.replace(worker));
    }

    private @Nullable Thread recording(List<MarkerKey> keys, HandlerTimeoutException cause) {
        MarkerKey key = keys.get(0);
        Thread[] started = new Thread[1];
        repeat(
                key + ": no thread to record that a handler is stuck; tried again",
                () -> started[0] = Threads.start(
                        "idem-record",
                        false,
                        () -> repeat(
                                key + ": a handler that is stuck could not be recorded as failed; tried again",
                                () -> record(keys, cause))));
        return started[0];
    }

    /** Everything in it is fenced, so once more does no harm. */
    private void record(List<MarkerKey> keys, HandlerTimeoutException cause) {
        if (turn != null && !asked) {
            changes.addAll(turn.rescued(keys, cause));
            asked = true;
        }
        if (turn != null) {
            turn.writeUnknown();
        }
        crew.store().change(taking, changes);
        crew.store().gone(taking);
        crew.signal().ring(1);
    }

    private void repeat(String failed, Runnable task) {
        Threads.untilDone(log, failed, crew::goesOn, task);
    }

    private static void join(@Nullable Thread thread, long millis) {
        try {
            if (thread != null) {
                thread.join(millis);
            }
        } catch (InterruptedException impossible) { // nobody has this thread
            Thread.currentThread().interrupt();
        }
    }
}
