package dev.idem.internal.consumer;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How long messages of a stream are put off while another transaction has the stream. Whoever moves the stream releases them, so
 * this is only for those it could not see; but to take and put back a thousand of them again and again costs more than to wait.
 * So the longer a stream was seen busy, the longer the pause. Thread-safe.
 */
public final class BusyStreams {
    public static final Duration SHORTEST = Duration.ofMillis(40);
    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final int REMEMBERED = 10_000;

    /** Whoever found it busy comes back before that; then it was free meanwhile, in the hands of another instance. */
    private static final Duration FORGOTTEN = LONGEST.multipliedBy(3);

    private final LongSupplier nanos;

    private final Map<Stream, Busy> since = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Stream, Busy> eldest) {
            return size() > REMEMBERED;
        }
    };

    public BusyStreams() {
        this(System::nanoTime);
    }

    BusyStreams(LongSupplier nanos) {
        this.nanos = nanos;
    }

    private record Stream(String consumer, String name) {}

    private record Busy(long first, long last) {}

    /** It was found busy: twice as long as it was up to now, from the first time. */
    public synchronized Duration pause(String consumer, String stream) {
        long now = nanos.getAsLong();
        Busy seen = since.merge(
                new Stream(consumer, stream),
                new Busy(now, now),
                (old, fresh) -> now - old.last > FORGOTTEN.toNanos() ? fresh : new Busy(old.first, now));
        Duration busy = Duration.ofNanos(now - seen.first);
        Duration pause = busy.compareTo(SHORTEST) < 0 ? SHORTEST : busy;
        return pause.compareTo(LONGEST) > 0 ? LONGEST : pause;
    }

    public synchronized void free(String consumer, String stream) {
        if (!since.isEmpty()) {
            since.remove(new Stream(consumer, stream));
        }
    }
}
