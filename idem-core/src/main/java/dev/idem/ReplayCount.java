package dev.idem;

import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.ReplayStore;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** A dry run: looks what a session would do, and claims nothing. Markers may come and go meanwhile. Used by one thread. */
final class ReplayCount implements ReplayRun.Replaying {
    private final Consumer consumer;
    private final MarkerStore markers;
    private final ReplayStore store;

    ReplayCount(Consumer consumer, MarkerStore markers, ReplayStore store) {
        this.consumer = consumer;
        this.markers = markers;
        this.store = store;
    }

    @Override
    public ReplayRun.Decided decide(List<Message> messages) {
        List<Message> ordinary = messages.stream()
                .map(m -> m.toBuilder().replaySession(null).build())
                .toList();
        Set<MarkerKey> done = done(ordinary);
        Optional<Instant> horizon = store.horizon(consumer.name());
        ReplaySession.Counts counts = ReplaySession.Counts.none();
        for (Message message : ordinary) {
            counts = counts.plus(count(message, done, horizon));
        }
        return new ReplayRun.Decided(counts, null);
    }

    private Set<MarkerKey> done(List<Message> messages) {
        List<MarkerKey> keys = new ArrayList<>();
        Set<MarkerKey> passed = new HashSet<>();
        for (Message message : messages) {
            consumer.keyOf(message).ifPresent(keys::add);
            if (consumer.isWatermark() && isPassed(message)) {
                consumer.keyOf(message).ifPresent(passed::add);
            }
        }
        return consumer.isWatermark() || keys.isEmpty() ? passed : store.marked(consumer.name(), keys);
    }

    private boolean isPassed(Message message) {
        Position place = message.position().orElse(null);
        if (place == null || !(markers instanceof MarkerStore.Positioned positioned)) {
            return false;
        }
        OptionalLong mark = positioned.markOf(consumer.name(), place);
        return mark.isPresent() && mark.getAsLong() >= place.offset();
    }

    private ReplaySession.Counts count(Message message, Set<MarkerKey> done, Optional<Instant> horizon) {
        Keyed keyed = consumer.keyed(message);
        boolean unguarded = consumer.policy().missingKey() == Policy.MissingKey.PROCESS_UNGUARDED;
        if (consumer.route(message).isEmpty() || (!(keyed instanceof Keyed.Key) && !unguarded)) {
            return new ReplaySession.Counts(1, 0, 0, 0, 0, 1, 0);
        }
        boolean isDone = keyed instanceof Keyed.Key key && done.contains(key.key());
        boolean isOld = !isDone && keyed instanceof Keyed.Key key && isBefore(message, key, horizon);
        long before = isDone ? 1 : 0;
        long old = isOld ? 1 : 0;
        boolean runs = switch (consumer.policy().replay()) {
            case FORBIDDEN -> false;
            case ALLOWED, SUPPRESS_EFFECTS -> true;
            case UNDONE_ONLY -> !isDone && (!isOld || consumer.policy().undecidable() == Policy.Undecidable.PROCESS);
        };
        boolean suppressed = consumer.policy().replay() == Policy.Replay.FORBIDDEN
                || consumer.policy().replay() == Policy.Replay.SUPPRESS_EFFECTS;
        return new ReplaySession.Counts(1, runs ? 1 : 0, before, suppressed ? 1 : 0, old, 0, 0);
    }

    private boolean isBefore(Message message, Keyed.Key key, Optional<Instant> horizon) {
        Instant made = key.made() != null ? key.made() : message.eventTime().orElse(null);
        if (made == null || horizon.isEmpty() || consumer.isWatermark()) {
            return false;
        }
        try {
            return !made.minus(consumer.policy().clockSkew()).isAfter(horizon.get());
        } catch (DateTimeException beforeAllTime) {
            return true;
        }
    }
}
