package dev.idem.bench.contender;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Hears from handlers how far a contender is. Thread-safe. */
public final class Meter {
    private static final long MINUTES = 5;

    private final long expected;
    private final boolean promptly;
    private final AtomicLong first = new AtomicLong();
    private final AtomicLong handled = new AtomicLong();
    private final Semaphore all = new Semaphore(0);
    private final Semaphore commits = new Semaphore(0);
    private volatile @Nullable Throwable failure;

    private Meter(long expected, boolean promptly) {
        this.expected = expected;
        this.promptly = promptly;
    }

    /** Waits until so many messages are handled. */
    public static Meter of(long expected) {
        return new Meter(expected, false);
    }

    /** Waits for each commit; who needs a listener to hear of it has one only then. */
    public static Meter ofCommits() {
        return new Meter(0, true);
    }

    boolean isPrompt() {
        return promptly;
    }

    /** A handler begins. */
    void handling() {
        if (first.get() == 0) {
            first.compareAndSet(0, System.nanoTime());
        }
    }

    /** Handlers have ended, which need not be durable yet. */
    void handled(int count) {
        long now = handled.addAndGet(count);
        if (now >= expected && now - count < expected) {
            all.release();
        }
    }

    /** The work of a message is durable. */
    void committed() {
        commits.release();
    }

    /** Nothing more will be handled; whoever waits hears why. */
    void failed(Throwable cause) {
        failure = cause;
        all.release();
    }

    /** When the first handler began, by {@link System#nanoTime}. */
    public long began() {
        return first.get();
    }

    public void awaitHandled() throws InterruptedException, TimeoutException {
        await(all, "only " + handled + " of " + expected + " messages were handled");
        if (failure != null) {
            throw new IllegalStateException("only " + handled + " of " + expected + " messages were handled", failure);
        }
    }

    public void awaitCommit() throws InterruptedException, TimeoutException {
        await(commits, "a message was not handled");
    }

    private static void await(Semaphore signal, String otherwise) throws InterruptedException, TimeoutException {
        if (!signal.tryAcquire(MINUTES, TimeUnit.MINUTES)) {
            throw new TimeoutException(otherwise + " within " + MINUTES + " minutes");
        }
    }
}
