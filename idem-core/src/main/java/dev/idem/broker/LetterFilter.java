package dev.idem.broker;

import java.time.Instant;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Which letters are meant; all that is asked for must hold. Immutable and thread-safe. */
public final class LetterFilter implements Predicate<Letter> {
    private static final LetterFilter ALL = new LetterFilter(letter -> true);

    private final Predicate<Letter> condition;

    private LetterFilter(Predicate<Letter> condition) {
        this.condition = condition;
    }

    public static LetterFilter all() {
        return ALL;
    }

    public LetterFilter consumer(String name) {
        return also(letter -> letter.about().consumer().equals(name));
    }

    public LetterFilter reason(String reason) {
        return also(letter -> letter.about().reason().equalsIgnoreCase(reason));
    }

    /** The class of the exception, whole or from a dot on. */
    public LetterFilter error(String name) {
        return also(letter -> letter.about()
                .error()
                .filter(error -> error.equals(name) || error.endsWith("." + name))
                .isPresent());
    }

    public LetterFilter id(String messageId) {
        return also(letter -> letter.message().id().equals(Optional.of(messageId)));
    }

    public LetterFilter type(String type) {
        return also(letter -> letter.message().type().equals(Optional.of(type)));
    }

    public LetterFilter place(String place) {
        return also(letter -> letter.place().equals(place));
    }

    /** Those set aside in this time; null is open. */
    public LetterFilter between(@Nullable Instant from, @Nullable Instant before) {
        return also(letter -> (from == null || !letter.about().at().isBefore(from))
                && (before == null || letter.about().at().isBefore(before)));
    }

    private LetterFilter also(Predicate<Letter> more) {
        return new LetterFilter(condition.and(more));
    }

    @Override
    public boolean test(Letter letter) {
        return condition.test(letter);
    }
}
