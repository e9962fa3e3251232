package dev.idem;

import dev.idem.spi.StoredResult;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What every store can keep of a result. What none can keep must be refused, and not tried again and again. */
final class Codecs {
    private static final Pattern NAME = Pattern.compile("[\\x21-\\x7E]{1,50}");

    private Codecs() {}

    /** The codec, if its name can be stored; to be asked before there is anything to store. */
    static <T> ResultCodec<T> usable(ResultCodec<T> codec) {
        String name = Objects.requireNonNull(codec, "codec").name();
        if (name == null || !NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("The name of a codec, '" + Text.printable(String.valueOf(name))
                    + "', must be 1 to 50 characters of ASCII without spaces");
        }
        return codec;
    }

    /** The result as a store keeps it; null stays null. */
    static <T extends @Nullable Object> @Nullable StoredResult encoded(ResultCodec<T> codec, T result) {
        if (result == null) {
            return null;
        }
        try {
            return new StoredResult(codec.name(), codec.encode(result));
        } catch (Exception unwritable) {
            throw new IdemException("The result cannot be encoded by codec " + codec.name(), unwritable);
        }
    }
}
