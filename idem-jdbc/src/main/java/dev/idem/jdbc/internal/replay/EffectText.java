package dev.idem.jdbc.internal.replay;

import dev.idem.replay.EffectForecast;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The forecasts of a dry run as a session's row keeps them: a line for each, in words that have no spaces. */
final class EffectText {
    private static final int WORDS = 5;

    private EffectText() {}

    static String of(List<EffectForecast> forecasts) {
        return forecasts.stream()
                .map(one -> one.kind() + " " + one.name() + " " + one.answered() + " " + one.unsettled() + " "
                        + one.atMost())
                .collect(Collectors.joining("\n"));
    }

    static List<EffectForecast> read(@Nullable String text) {
        return text == null
                ? List.of()
                : text.lines().map(line -> forecast(line.split(" ", WORDS))).toList();
    }

    private static EffectForecast forecast(String[] words) {
        return new EffectForecast(
                EffectForecast.Kind.valueOf(words[0]),
                words[1],
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]));
    }
}
