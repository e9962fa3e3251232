package dev.idem.broker.spi;

import dev.idem.RetryPolicy;
import dev.idem.broker.MessageReader;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * What all listeners are told, whatever their broker. For those who write an adapter.
 *
 * @param reader makes messages of deliveries
 * @param retry when a message whose handler failed comes again, and how often
 * @param parallelism how many lanes work side by side
 * @param maxPending how many messages are kept here before no more are taken
 * @param maxPendingBytes how many bytes they may have
 * @param drain how long closing waits for handlers
 * @param threads makes all threads; null for the default, where only the listener's own thread keeps the process alive
 */
public record ListenerOptions<D>(
        MessageReader<D> reader,
        RetryPolicy retry,
        int parallelism,
        int maxPending,
        long maxPendingBytes,
        Duration drain,
        @Nullable ThreadFactory threads) {

    /** A thread that works for the listener, and does not keep the process alive. */
    public Thread worker(Runnable work) {
        return thread(work, true);
    }

    /** The listener's own thread: while it runs, the process does not end by itself. */
    public Thread keeper(Runnable work) {
        return thread(work, false);
    }

    private Thread thread(Runnable work, boolean daemon) {
        if (threads != null) {
            return threads.newThread(work);
        }
        Thread thread = new Thread(work);
        thread.setDaemon(daemon);
        return thread;
    }

    /** The options of the lanes. */
    public KeyedExecutor.Options lanes(String name) {
        return new KeyedExecutor.Options(name, parallelism, retry, this::worker, maxPending, maxPendingBytes);
    }
}
