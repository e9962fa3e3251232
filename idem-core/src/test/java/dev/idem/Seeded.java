package dev.idem;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Random input that can be had again: a failure names its seed, and {@code -Didem.seed=…} takes it back. */
public final class Seeded {
    private static final String PROPERTY = "idem.seed";
    /** Chosen to meet each other: delimiters, escapes and what they stand for, look-alikes, and what is invisible. */
    private static final List<String> FRAGMENTS = List.of(
            "a",
            "b",
            "A",
            " ",
            "/",
            "=",
            "\\",
            "id=",
            "/id=",
            "\\/id\\=",
            "\n",
            "\\u{a}",
            "\u0000",
            "\\u{0}",
            "\u200b",
            "\\u{200b}",
            "\u0000\u0000\u0000\u0000",
            "\u0000\u0000\u0000\u0001",
            "\u00e9",
            "e\u0301",
            "\ud83d\ude00");

    private final Random random;

    private Seeded(long seed) {
        random = new Random(seed);
    }

    public static void forAll(int rounds, Consumer<Seeded> property) {
        long seed = Long.getLong(PROPERTY, System.nanoTime());
        for (int round = 0; round < rounds; round++) {
            try {
                property.accept(new Seeded(seed + round));
            } catch (AssertionError | RuntimeException failure) {
                throw new AssertionError(
                        "fails in round " + round + "; repeat with -D" + PROPERTY + "=" + (seed + round), failure);
            }
        }
    }

    public int below(int bound) {
        return random.nextInt(bound);
    }

    public long bits() {
        return random.nextLong();
    }

    /** Never blank: the first character can always be seen. */
    public String text() {
        StringBuilder text = new StringBuilder().append((char) ('a' + below(2)));
        for (int left = below(4); left > 0; left--) {
            text.append(FRAGMENTS.get(below(FRAGMENTS.size())));
        }
        return text.toString();
    }

    public <T> List<T> list(int size, Supplier<T> element) {
        List<T> list = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            list.add(element.get());
        }
        return list;
    }
}
