package dev.idem.jms;

import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import dev.idem.broker.spi.KeyedExecutor;
import dev.idem.broker.spi.ListenerRun;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** One life of a listener: lanes, the thread that receives and settles for them, and the publisher of copies. Thread-safe. */
final class JmsRun implements ListenerRun {
    /** What calls to the broker may take when the time for closing is over. */
    private static final long LAST_CALLS_MILLIS = 5_000;

    private final Set<Thread> workers = ConcurrentHashMap.newKeySet();
    private final KeyedExecutor<Taken> lanes;
    private final Receiver receiver;
    private final Thread keeper;
    private volatile boolean closing;
    private volatile boolean closed;

    JmsRun(JmsOptions options, AtomicLong settled) {
        LazySeal seal = new LazySeal(options.inbox());
        Outgoing outgoing = new Outgoing(options, seal);
        Settling settling = new Settling(outgoing, options.keepsOrder());
        KeyedExecutor.Options common = options.common().lanes(options.name());
        KeyedExecutor.Options known = new KeyedExecutor.Options(
                common.name(),
                common.lanes(),
                common.retry(),
                work -> worker(options, work),
                common.maxPending(),
                common.maxBytes());
        lanes = KeyedExecutor.start(known, options.inbox(), options.consumer(), settling);
        receiver = new Receiver(options, lanes, settling, outgoing, seal, settled);
        keeper = options.common().keeper(receiver);
        keeper.setName(options.name());
        keeper.start();
    }

    private Thread worker(JmsOptions options, Runnable work) {
        Thread thread = options.common().worker(work);
        workers.add(thread);
        return thread;
    }

    @Override
    public ListenerState state() {
        if (closing) {
            return closed || receiver.hasEnded() ? ListenerState.CLOSED : ListenerState.CLOSING;
        }
        if (receiver.failure().isPresent()) {
            return ListenerState.FAILED;
        }
        if (waiting().isPresent()) {
            return ListenerState.WAITING;
        }
        return receiver.isConnected() ? ListenerState.RUNNING : ListenerState.STARTING;
    }

    @Override
    public Optional<Throwable> failure() {
        return receiver.failure();
    }

    @Override
    public Optional<Waiting> waiting() {
        return receiver.isClosing() ? Optional.empty() : receiver.waiting();
    }

    @Override
    public int pending() {
        return Math.max(lanes.pending(), receiver.unsettled());
    }

    @Override
    public long pendingBytes() {
        return lanes.pendingBytes();
    }

    /** Unknown: the API has no way to ask. */
    @Override
    public OptionalLong lag() {
        return OptionalLong.empty();
    }

    @Override
    public void taking(boolean wanted) {
        receiver.taking(wanted);
    }

    @Override
    public void close(Duration longest) {
        closing = true;
        receiver.stop(longest);
        Thread caller = Thread.currentThread();
        if (caller == keeper || workers.contains(caller)) {
            return;
        }
        try {
            keeper.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(longest.toNanos())) + LAST_CALLS_MILLIS);
        } catch (InterruptedException stop) {
            caller.interrupt();
        }
        if (keeper.isAlive()) {
            keeper.interrupt();
        }
        closed = true;
    }
}
