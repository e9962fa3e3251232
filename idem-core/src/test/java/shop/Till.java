package shop;

import java.util.Objects;

/** Somebody else's code, which fails behind a method of the JDK. */
public final class Till {
    private Till() {}

    public static String charge(String text) {
        Objects.requireNonNull(null, text);
        return text;
    }
}
