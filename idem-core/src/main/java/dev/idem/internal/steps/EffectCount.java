package dev.idem.internal.steps;

import dev.idem.replay.EffectForecast;
import dev.idem.spi.StepRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts, for a dry run, which effects would be asked for. Of a message that is done, these are those in the ledger. Of any
 * other one they may be all that are known by name, and some that are not; so it is counted against each name that is not
 * in its own ledger, also against those that are met later. Used by one thread.
 */
public final class EffectCount {
    private static final String OTHERS = "others";
    private static final int MOST_NAMES = 100;

    private final Map<String, Named> effects = new TreeMap<>();
    private final Map<String, Long> publications = new TreeMap<>();
    private final Named others = new Named();

    /** Messages that are not done: each may ask for any effect. */
    private long open;

    private static final class Named {
        private long answered;
        private long unsettled;

        /** How many of the open messages have it in their own ledger. */
        private long openWithIt;
    }

    /** Goes on with what was counted before. */
    public EffectCount(List<EffectForecast> before) {
        before.stream()
                .filter(forecast -> forecast.kind() == EffectForecast.Kind.OTHERS)
                .forEach(forecast -> open = forecast.atMost());
        for (EffectForecast forecast : before) {
            if (forecast.kind() == EffectForecast.Kind.PUBLICATION) {
                publications.put(forecast.name(), forecast.atMost());
            } else {
                Named named = forecast.kind() == EffectForecast.Kind.OTHERS ? others : named(forecast.name());
                named.answered = forecast.answered();
                named.unsettled = forecast.unsettled();
                named.openWithIt = open - forecast.atMost();
            }
        }
    }

    private Named named(String effect) {
        Named known = effects.get(effect);
        if (known == null && effects.size() < MOST_NAMES) {
            known = new Named();
            effects.put(effect, known);
        }
        return known == null ? others : known;
    }

    /** Effects that may be asked for, although none of the messages so far has them. */
    public void mayBe(Collection<String> names) {
        names.forEach(this::named);
    }

    /**
     * A message that would be handled in steps.
     *
     * @param done whether it asks for nothing but what the ledger has
     */
    public void runs(Map<String, StepRecord.State> ledger, boolean done) {
        open += done ? 0 : 1;
        ledger.forEach((name, state) -> {
            Named named = named(name);
            named.answered += state == StepRecord.State.DONE ? 1 : 0;
            named.unsettled += state == StepRecord.State.DONE ? 0 : 1;
            named.openWithIt += done || named == others ? 0 : 1;
        });
    }

    /** A message whose handler may publish there. */
    public void publishes(String outbox) {
        publications.merge(outbox, 1L, Long::sum);
    }

    public List<EffectForecast> forecasts() {
        List<EffectForecast> all = new ArrayList<>();
        effects.forEach((name, named) -> all.add(forecast(EffectForecast.Kind.EFFECT, name, named)));
        publications.forEach(
                (name, count) -> all.add(new EffectForecast(EffectForecast.Kind.PUBLICATION, name, 0, 0, count)));
        if (open + others.answered + others.unsettled > 0) {
            all.add(forecast(EffectForecast.Kind.OTHERS, OTHERS, others));
        }
        return all;
    }

    private EffectForecast forecast(EffectForecast.Kind kind, String name, Named named) {
        return new EffectForecast(kind, name, named.answered, named.unsettled, open - named.openWithIt);
    }
}
