package dev.idem.rabbitmq;

import dev.idem.broker.Waiting;
import dev.idem.broker.spi.KeyedExecutor;
import dev.idem.broker.spi.Pace;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a listener connected: connects again when a connection is lost, consumes and cancels as it is told and as much as fits,
 * and gives back what has waited too long. Thread-safe.
 */
final class Supervisor implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(RabbitInboxListener.class);
    private static final long CHECK_MILLIS = 500;
    private static final long ASK_NANOS = Duration.ofSeconds(2).toNanos();
    private static final Duration SHORT_LIFE = Duration.ofSeconds(5);
    private static final long LONGEST_CANCEL_MILLIS = 5_000;

    private final Options options;
    private final String name;
    private final Connector connector;
    private final Prefetch prefetch;
    private final KeyedExecutor<Incoming> lanes;
    private final Consumer<Throwable> failed;
    private final Pace pace;
    private final String what;
    private volatile @Nullable Session session;
    private volatile OptionalLong lag = OptionalLong.empty();
    private volatile boolean taking = true;
    private volatile boolean stopped;
    private volatile boolean connectedOnce;
    private boolean changed;
    // Of its own thread: when the broker was asked last, and whether the last connections ended at once, so that the
    // next one
    // must prove itself before all is well again.
    private long askedAt;
    private int shortLives;
    private boolean shaky;

    Supervisor(
            Options options,
            String name,
            Connector connector,
            Prefetch prefetch,
            KeyedExecutor<Incoming> lanes,
            Consumer<Throwable> failed) {
        this.options = options;
        this.name = name;
        this.connector = connector;
        this.prefetch = prefetch;
        this.lanes = lanes;
        this.failed = failed;
        what = "queue " + options.queue();
        pace = Pace.ofBroker(name, what);
    }

    @Override
    public void run() {
        try {
            while (!stopped) {
                Session current = session;
                if (current == null) {
                    connect();
                } else {
                    watch(current);
                }
            }
        } catch (InterruptedException | RuntimeException | Error fatal) {
            failed.accept(fatal);
        }
    }

    private void connect() throws InterruptedException {
        await(pace.left().toMillis(), false);
        if (stopped) {
            return;
        }
        try {
            Session opened = connector.open(this::changed);
            session = opened;
            settle(opened);
            if (stopped) {
                opened.close();
            }
        } catch (WrongQueueException incurable) {
            throw incurable;
        } catch (IOException | TimeoutException | RuntimeException refused) {
            pace.failed(refused, Link.words(refused));
        }
    }

    private void watch(Session current) throws InterruptedException {
        await(CHECK_MILLIS, true);
        if (stopped) {
            return;
        }
        Optional<Throwable> cause = current.ended();
        Optional<Throwable> dead = lanes.failure();
        if (cause.isPresent()) {
            lost(current, cause.get());
        } else if (dead.isPresent()) {
            failed.accept(dead.get());
        } else if (current.oldest().compareTo(options.longestHold()) > 0) {
            log.warn("{}: gives back deliveries that have waited for {}", name, options.longestHold());
            drop();
        } else {
            settle(current);
        }
    }

    /** After a connection that ended at once the next one must prove itself first. */
    private void settle(Session current) {
        try {
            tend(current);
            connectedOnce = true;
            if (shaky && current.age().compareTo(SHORT_LIFE) > 0) {
                shaky = false;
                shortLives = 0;
                prefetch.single(false);
            }
            if (!shaky) {
                pace.succeeded();
            }
        } catch (IOException | RuntimeException refused) {
            lost(current, current.ended().orElse(refused));
        }
    }

    /** Consumes if it is wanted, and as much as fits; and looks how much there is to do. */
    private void tend(Session current) throws IOException {
        int now = current.prefetch();
        int wanted = taking ? prefetch.wanted(now) : 0;
        if (now != wanted) {
            current.cancel();
            if (wanted > 0 && current.prefetch() == 0) {
                connector.consume(current, wanted);
            }
            synchronized (this) {
                notifyAll();
            }
        }
        connector.check(current);
        if (connector.knowsLag() && (lag.isEmpty() || System.nanoTime() - askedAt > ASK_NANOS)) {
            askedAt = System.nanoTime();
            lag = current.ready(options.queue());
        }
    }

    private void lost(Session current, Throwable cause) {
        drop();
        if (cause instanceof WrongQueueException incurable) {
            throw incurable;
        }
        Optional<String> unreadable = Unreadable.explain(cause, options.queue());
        if (unreadable.isPresent()) {
            prefetch.single(true);
        }
        shortLives = current.age().compareTo(SHORT_LIFE) < 0 ? shortLives + 1 : 0;
        shaky = unreadable.isPresent() || shortLives > 1;
        pace.failed(cause, unreadable.orElseGet(() -> Link.words(cause)));
    }

    /** The broker delivers again what this generation has not acknowledged. */
    private void drop() {
        Session left = session;
        session = null;
        lag = OptionalLong.empty();
        if (left != null) {
            left.close();
            lanes.forget(delivery -> delivery.session() == left, Duration.ZERO);
        }
    }

    /** Waits, until something has changed if that matters, but not longer than this. */
    private synchronized void await(long millis, boolean forChanges) throws InterruptedException {
        long deadline = System.nanoTime() + millis * 1_000_000;
        for (long left = millis; left > 0 && !(forChanges && changed) && !stopped; ) {
            wait(left);
            left = (deadline - System.nanoTime()) / 1_000_000;
        }
        changed = false;
    }

    private synchronized void changed() {
        changed = true;
        notifyAll();
    }

    boolean isConnected() {
        return connectedOnce && session != null;
    }

    Optional<Session> session() {
        return Optional.ofNullable(session);
    }

    OptionalLong lag() {
        return lag;
    }

    /** What of the broker is missing. */
    Optional<Waiting> waiting() {
        Session current = session;
        if (connectedOnce && (current == null || !current.isOpen()) && !pace.isWaiting()) {
            return Optional.of(new Waiting(what, Instant.now(), "the connection was lost"));
        }
        return pace.waiting();
    }

    /** @param patiently whether to return only when nothing more is consumed */
    void taking(boolean wanted, boolean patiently) {
        taking = wanted;
        changed();
        if (!wanted && patiently) {
            awaitCancelled();
        }
    }

    private synchronized void awaitCancelled() {
        long deadline = System.nanoTime() + LONGEST_CANCEL_MILLIS * 1_000_000;
        try {
            for (long left = LONGEST_CANCEL_MILLIS; left > 0 && !stopped && isConsuming(); ) {
                wait(left);
                left = (deadline - System.nanoTime()) / 1_000_000;
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isConsuming() {
        Session current = session;
        return current != null && current.prefetch() > 0;
    }

    /** Takes nothing more; what is here can still be acknowledged. */
    void leave() {
        taking = false;
        stopped = true;
        Session current = session;
        if (current != null) {
            current.leave();
            current.cancel();
        }
        changed();
    }

    /** Ends the connection. */
    void stop() {
        stopped = true;
        changed();
        Session current = session;
        if (current != null) {
            current.close();
        }
    }
}
