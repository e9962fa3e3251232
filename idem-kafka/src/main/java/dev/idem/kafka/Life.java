package dev.idem.kafka;

import dev.idem.StoreReplacedException;
import dev.idem.broker.ListenerState;
import dev.idem.broker.spi.ListenerOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a listener lives and ends, for all its threads. Thread-safe. */
final class Life {
    private static final Logger log = LoggerFactory.getLogger(KafkaInboxListener.class);

    private final String name;
    private final ListenerOptions<?> options;
    private final Runnable atEnd;
    private final Set<Thread> lanes = ConcurrentHashMap.newKeySet();
    private final List<Thread> pollers = new ArrayList<>();
    private int running;
    private long deadline;
    private volatile boolean ending;
    private volatile boolean failed;
    private volatile boolean closed;
    private volatile @Nullable Throwable cause;
    private volatile boolean ended;

    /** Ends with this, when the last member has left. */
    Life(String name, ListenerOptions<?> options, Runnable atEnd) {
        this.name = name;
        this.options = options;
        this.atEnd = atEnd;
    }

    Thread laneThread(Runnable work) {
        Thread thread = options.worker(work);
        lanes.add(thread);
        return thread;
    }

    synchronized void begin(List<Poller> members) {
        for (Poller member : members) {
            Thread thread = pollers.isEmpty() ? options.keeper(member) : options.worker(member);
            thread.setName(name + "-poll-" + (pollers.size() + 1));
            pollers.add(thread);
        }
        running = pollers.size();
        pollers.forEach(Thread::start);
    }

    boolean isEnding() {
        return ending;
    }

    synchronized void end(Duration longest) {
        if (!ending) {
            deadline = System.nanoTime() + longest.toNanos();
            ending = true;
        }
    }

    /** How long what is being worked on may still take. */
    synchronized Duration left() {
        return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
    }

    /** Somebody wants it so; what it failed from is over then. */
    void close(Duration longest) {
        closed = true;
        end(longest);
    }

    synchronized void fail(Throwable cause) {
        if (!failed && !ending) {
            this.cause = cause;
            failed = true;
            log.error("{}: gave up; {}, and restart the listener", name, advice(cause), cause);
        }
        end(options.drain());
    }

    /** Why it failed. */
    Optional<Throwable> failure() {
        return Optional.ofNullable(cause);
    }

    private static String advice(Throwable cause) {
        if (cause instanceof InvalidOffsetException) {
            return "say with auto.offset.reset or kafka-consumer-groups.sh --reset-offsets where it shall begin";
        }
        if (cause instanceof StoreReplacedException) {
            return "do what the cause says";
        }
        String says = cause.getMessage() == null ? "" : ": " + cause.getMessage();
        return "correct what is wrong (" + cause.getClass().getName() + says + ")";
    }

    /** A member has left. */
    void ended() {
        boolean last;
        synchronized (this) {
            last = --running == 0;
        }
        if (last) {
            try {
                atEnd.run();
            } finally {
                ended = true;
            }
        }
    }

    /** Waits until all members have left; from a handler's thread it does not, because they wait for the handler. */
    void await(Duration longest) {
        if (lanes.contains(Thread.currentThread()) || pollers.contains(Thread.currentThread())) {
            return;
        }
        long limit = System.nanoTime() + longest.toNanos();
        for (Thread poller : pollers) {
            try {
                poller.join(Math.max(1, (limit - System.nanoTime()) / 1_000_000));
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                return;
            }
        }
        if (!ended) {
            log.warn("{}: still closing after {}; what is not finished is delivered again", name, longest);
        }
    }

    /** The state, unless it simply lives. */
    @Nullable
    ListenerState state() {
        if (failed && !closed) {
            return ListenerState.FAILED;
        }
        return ended ? ListenerState.CLOSED : ending ? ListenerState.CLOSING : null;
    }
}
