package dev.idem.internal.text;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Which names of codecs every store can keep. */
public final class CodecName {
    private static final Pattern NAME = Pattern.compile("[\\x21-\\x7E]{1,50}");

    private CodecName() {}

    /** @throws IllegalArgumentException if some store could not keep it; to be asked before there is anything to store */
    public static void check(@Nullable String name) {
        if (name == null || !NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("The name of a codec, '" + Text.printable(String.valueOf(name))
                    + "', must be 1 to 50 characters of ASCII without spaces");
        }
    }
}
