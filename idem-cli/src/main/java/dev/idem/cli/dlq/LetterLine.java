package dev.idem.cli.dlq;

import dev.idem.broker.DeadLetter;
import dev.idem.broker.Letter;
import dev.idem.cli.Printable;
import dev.idem.cli.Times;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One letter, for machines; and its line for people. */
record LetterLine(
        String place,
        @Nullable String id,
        @Nullable String type,
        @Nullable String key,
        String consumer,
        String reason,
        @Nullable String detail,
        @Nullable String error,
        int attempts,
        String at,
        boolean replayForbidden,
        Map<String, String> origin,
        int bytes) {
    private static final int SHORT = 60;

    static LetterLine of(Letter letter) {
        DeadLetter about = letter.about();
        return new LetterLine(
                letter.place(),
                letter.message().id().orElse(null),
                letter.message().type().orElse(null),
                letter.message().orderingKey().orElse(null),
                about.consumer(),
                about.reason(),
                about.detail().orElse(null),
                about.error().orElse(null),
                about.attempts(),
                about.at().toString(),
                about.replayForbidden(),
                about.origin(),
                letter.message().payload().length);
    }

    static String text(Letter letter) {
        DeadLetter about = letter.about();
        return String.format(
                "%-12s %s  %s  %s %s%s%s",
                Printable.line(letter.place()),
                Times.of(about.at()),
                Printable.line(about.consumer(), SHORT),
                Printable.line(letter.message().id().orElse("(no id)"), SHORT),
                Printable.line(about.reason()),
                about.error().map(error -> ": " + Printable.line(error, SHORT)).orElse(""),
                about.detail()
                        .map(detail -> ": " + Printable.line(detail, SHORT))
                        .orElse(""));
    }
}
