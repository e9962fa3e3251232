package dev.idem.internal.event;

import dev.idem.Observation;
import dev.idem.Outcome;
import dev.idem.Rejection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** Counts what observe mode lets through. Thread-safe; nothing is lost behind a slow listener. */
public final class Observer {
    private static final List<Duration> LAGS = Stream.of(
                    "PT1S", "PT10S", "PT1M", "PT10M", "PT1H", "PT6H", "P1D", "P3D", "P7D", "P30D")
            .map(Duration::parse)
            .toList();

    private final Clock clock;
    private final ConcurrentMap<String, Tally> tallies = new ConcurrentHashMap<>();

    public Observer(Clock clock) {
        this.clock = clock;
    }

    public void delivered(String consumer) {
        tally(consumer).deliveries.increment();
    }

    /** Counts a verdict; true when the handler did not run because of it, and must be let through. */
    public boolean stopped(String consumer, Outcome<?> verdict) {
        Tally tally = tally(consumer);
        if (verdict instanceof Outcome.Duplicate<?> duplicate) {
            tally.duplicates.increment();
            lag(tally, duplicate.markedAt());
        } else if (verdict instanceof Outcome.Conflict<?> conflict) {
            tally.conflicts.increment();
            lag(tally, conflict.markedAt());
        } else if (verdict instanceof Outcome.Busy) {
            tally.busy.increment();
        } else if (verdict instanceof Outcome.Undecidable) {
            tally.undecidable.increment();
        } else if (verdict instanceof Outcome.Rejected<?> rejected) {
            (rejected.reason() == Rejection.UNDECIDABLE ? tally.undecidable : tally.unusableKeys).increment();
        } else {
            return false;
        }
        return true;
    }

    /** By this machine's clock, which may be off by some seconds: the classes are coarse, and nothing rests on them. */
    private void lag(Tally tally, Instant first) {
        Duration lag = Duration.between(first, clock.instant());
        Duration positive = lag.isNegative() ? Duration.ZERO : lag;
        tally.longest.accumulate(positive.toMillis());
        long bucket = LAGS.stream().filter(upTo -> upTo.compareTo(positive) < 0).count();
        tally.lags[(int) bucket].increment();
    }

    public Map<String, Observation> observations() {
        Map<String, Observation> all = new TreeMap<>();
        tallies.forEach((consumer, tally) -> all.put(consumer, tally.read(consumer, clock.instant())));
        return all;
    }

    private Tally tally(String consumer) {
        return tallies.computeIfAbsent(consumer, name -> new Tally(clock.instant()));
    }

    /** The counters of one consumer. */
    private static final class Tally {
        private final Instant start;
        private final LongAdder deliveries = new LongAdder();
        private final LongAdder duplicates = new LongAdder();
        private final LongAdder conflicts = new LongAdder();
        private final LongAdder busy = new LongAdder();
        private final LongAdder unusableKeys = new LongAdder();
        private final LongAdder undecidable = new LongAdder();
        private final LongAdder[] lags =
                Stream.generate(LongAdder::new).limit(LAGS.size() + 1).toArray(LongAdder[]::new);
        private final LongAccumulator longest = new LongAccumulator(Math::max, -1);

        private Tally(Instant start) {
            this.start = start;
        }

        private Observation read(String consumer, Instant now) {
            SortedMap<Duration, Long> histogram = new TreeMap<>();
            for (int i = 0; i < lags.length; i++) {
                histogram.put(i < LAGS.size() ? LAGS.get(i) : Observation.OPEN_END, lags[i].sum());
            }
            return new Observation(
                    consumer,
                    Duration.between(start, now),
                    deliveries.sum(),
                    duplicates.sum(),
                    conflicts.sum(),
                    busy.sum(),
                    unusableKeys.sum(),
                    undecidable.sum(),
                    histogram,
                    longest.get() < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(longest.get())));
        }
    }
}
