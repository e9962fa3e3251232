package dev.idem.internal.replay;

import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.Position;
import dev.idem.Route;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.key.Keyed;
import dev.idem.internal.steps.EffectCount;
import dev.idem.replay.EffectForecast;
import dev.idem.replay.ReplaySession;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.ReplayStore;
import dev.idem.spi.StepRecord;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** A dry run: looks what a session would do, and claims nothing. Markers may come and go meanwhile. Used by one thread. */
final class ReplayCount implements ReplayRun.Replaying {
    private final ConsumerPlan consumer;
    private final MarkerStore markers;
    private final ReplayStore store;
    private final EffectCount effects;
    private boolean namesRead;

    /** @param before what was counted by executors before */
    ReplayCount(ConsumerPlan consumer, MarkerStore markers, ReplayStore store, List<EffectForecast> before) {
        this.consumer = consumer;
        this.markers = markers;
        this.store = store;
        effects = new EffectCount(before);
    }

    @Override
    public ReplayRun.Decided decide(List<Message> messages) {
        List<Message> ordinary = messages.stream().map(m -> m.inSession(null)).toList();
        Set<MarkerKey> done = done(ordinary);
        Optional<Instant> horizon = store.horizon(consumer.name());
        ReplaySession.Counts counts = ReplaySession.Counts.none();
        List<Message> running = new ArrayList<>();
        for (Message message : ordinary) {
            ReplaySession.Counts one = count(message, done, horizon);
            counts = counts.plus(one);
            if (one.processed() > 0) {
                running.add(message);
            }
        }
        countEffects(running, done);
        return new ReplayRun.Decided(counts, null, effects.forecasts());
    }

    private void countEffects(List<Message> running, Set<MarkerKey> done) {
        List<Message> stepwise = new ArrayList<>();
        for (Message message : running) {
            consumer.outboxes().forEach(outbox -> effects.publishes(outbox.name()));
            if (consumer.route(message).orElse(null) instanceof Route.Stepwise) {
                stepwise.add(message);
            }
        }
        if (stepwise.isEmpty()) {
            return;
        }
        if (!namesRead) {
            effects.mayBe(store.effectNames(consumer.name()));
            namesRead = true;
        }
        List<MarkerKey> keys = keys(stepwise);
        Map<MarkerKey, Map<String, StepRecord.State>> ledger =
                keys.isEmpty() ? Map.of() : store.effects(consumer.name(), keys);
        Set<MarkerKey> waiting = keys.isEmpty() ? Set.of() : store.waiting(consumer.name(), keys);
        for (Message message : stepwise) {
            MarkerKey key = consumer.keyOf(message).orElse(null);
            effects.runs(
                    key == null ? Map.of() : ledger.getOrDefault(key, Map.of()),
                    key != null && done.contains(key) && !waiting.contains(key));
        }
    }

    private List<MarkerKey> keys(List<Message> messages) {
        List<MarkerKey> keys = new ArrayList<>();
        messages.forEach(message -> consumer.keyOf(message).ifPresent(keys::add));
        return keys;
    }

    private Set<MarkerKey> done(List<Message> messages) {
        List<MarkerKey> keys = keys(messages);
        Set<MarkerKey> passed = new HashSet<>();
        for (Message message : messages) {
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
