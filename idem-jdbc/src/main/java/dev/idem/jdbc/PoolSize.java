package dev.idem.jdbc;

import dev.idem.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;

/**
 * Finds out, when the first workers start, whether the pool can have two connections open at once: one of a worker, and the
 * one for notes. No pool says how many it has, so this is tried. Thread-safe.
 */
final class PoolSize {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int VALID_SECONDS = 5;

    private final DataSource dataSource;
    private final NoteConnection notes;
    private final AtomicBoolean tried = new AtomicBoolean();

    PoolSize(DataSource dataSource, NoteConnection notes) {
        this.dataSource = dataSource;
        this.notes = notes;
    }

    /** @throws StoreException if there is one connection and no second */
    void check(String consumer, int workers) {
        if (!tried.compareAndSet(false, true)) {
            return; // a second would have to wait for the workers that run already
        }
        try {
            notes.ready();
        } catch (SQLException absent) {
            tried.set(false);
            return; // the workers wait until the database is there
        }
        if (!hasAnother() && notes.isAlive(VALID_SECONDS)) {
            notes.close();
            tried.set(false);
            throw new StoreException(
                    "The pool has one connection for the workers of " + consumer
                            + " and no second one, so they would stand"
                            + " still. Give it at least " + (workers + 2) + ": one for each of the " + workers
                            + " workers, one for notes of what they run, one that listens, and those in which messages are"
                            + " received",
                    null);
        }
    }

    /** On another thread, because some pools let their users wait for ever. */
    private boolean hasAnother() {
        CompletableFuture<Boolean> second = new CompletableFuture<>();
        Thread thread = new Thread(() -> tryAnother(second), "idem-pool-size");
        thread.setDaemon(true);
        thread.start();
        try {
            return second.get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException none) {
            return false;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return true; // nobody knows
        }
    }

    private void tryAnother(CompletableFuture<Boolean> second) {
        try (Connection another = dataSource.getConnection()) {
            second.complete(!another.isClosed());
        } catch (SQLException | RuntimeException failure) {
            second.completeExceptionally(failure);
        } catch (Error failure) {
            second.complete(true); // says nothing of the pool
            throw failure;
        }
    }
}
