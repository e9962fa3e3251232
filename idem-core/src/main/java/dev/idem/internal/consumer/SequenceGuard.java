package dev.idem.internal.consumer;

import dev.idem.internal.unit.Verdict;
import dev.idem.spi.StreamVersion;
import dev.idem.spi.Streams;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Judges versions in one transaction. All streams are locked at once; then each message is judged against what is committed
 * and what this transaction is about to apply. Used by one thread.
 *
 * <p>What is told of a message for good may rest on committed versions only: that a version is stale because another message
 * of the same transaction applies it is {@link Verdict.Repeated}, and true only when that has committed.
 */
public final class SequenceGuard {
    private final Beginning beginning;
    private final Streams streams;
    private final Map<String, OptionalLong> stored = new HashMap<>();
    private final Map<String, Long> begun = new TreeMap<>();
    private final Map<String, Long> ahead = new HashMap<>();
    private final Map<String, Throwable> unknown = new HashMap<>();

    public SequenceGuard(SequencePlan sequence, Streams streams) {
        this(sequence::before, streams);
    }

    public SequenceGuard(Beginning beginning, Streams streams) {
        this.beginning = beginning;
        this.streams = streams;
    }

    /** Where a stream begins; that may be a lookup of the user's. */
    @FunctionalInterface
    public interface Beginning {
        /** The version before the first; empty if any may be the first. */
        OptionalLong before(String stream) throws Exception;
    }

    /** What a version means. */
    public sealed interface Verdict {
        record Apply() implements Verdict {}

        record Stale(long current) implements Verdict {}

        /** Another message of this transaction has taken the version. */
        record Repeated() implements Verdict {}

        record Ahead(long missing) implements Verdict {}

        /** Another transaction has the stream. */
        record Busy() implements Verdict {}

        /** Where the stream begins could not be looked up. */
        record NoBeginning(Throwable cause) implements Verdict {}
    }

    public void lock(Collection<StreamVersion> places, Duration wait) {
        Collection<String> names = new TreeSet<>();
        places.forEach(place -> names.add(place.stream()));
        if (names.isEmpty()) {
            return;
        }
        streams.lock(names, wait).forEach((stream, current) -> begin(stream, current));
        names.retainAll(stored.keySet());
        names.removeAll(begun.keySet());
        if (!names.isEmpty()) {
            streams.lowestStored(names).forEach((stream, version) -> begun.put(stream, version - 1));
        }
    }

    /** A stream whose beginning cannot be looked up now is as good as not locked: its messages alone come again. */
    private void begin(String stream, OptionalLong current) {
        OptionalLong known;
        try {
            known = current.isPresent() ? current : beginning.before(stream);
        } catch (Throwable failure) { // an Error too is that of one stream's messages
            unknown.put(stream, failure);
            return;
        }
        stored.put(stream, current);
        known.ifPresent(version -> begun.put(stream, version));
    }

    /** The streams that nobody else can move before this transaction ends. */
    public Set<String> locked() {
        return stored.keySet();
    }

    public Verdict judge(StreamVersion place) {
        Throwable cause = unknown.get(place.stream());
        if (cause != null) {
            return new Verdict.NoBeginning(cause);
        }
        if (!stored.containsKey(place.stream())) {
            return new Verdict.Busy();
        }
        @Nullable Long committed = begun.get(place.stream());
        @Nullable Long current = ahead.getOrDefault(place.stream(), committed);
        if (committed != null && place.version() <= committed) {
            return new Verdict.Stale(committed);
        }
        if (current != null && place.version() <= current) {
            return new Verdict.Repeated();
        }
        if (current != null && place.version() - 1 > current) {
            return new Verdict.Ahead(current + 1);
        }
        ahead.put(place.stream(), place.version());
        begun.putIfAbsent(place.stream(), place.version() - 1); // it begins here, even if this one fails
        return new Verdict.Apply();
    }

    /** Writes what is applied, and where streams begin that have not begun; before the commit. */
    public void move(Collection<StreamVersion> applied) {
        Map<String, Long> to = moves(applied);
        if (!to.isEmpty()) {
            streams.move(to);
        }
    }

    private Map<String, Long> moves(Collection<StreamVersion> applied) {
        Map<String, Long> to = new TreeMap<>();
        begun.forEach((stream, version) -> {
            if (stored.getOrDefault(stream, OptionalLong.empty()).isEmpty()) {
                to.put(stream, version);
            }
        });
        applied.forEach(place -> to.merge(place.stream(), place.version(), Math::max));
        return to;
    }
}
