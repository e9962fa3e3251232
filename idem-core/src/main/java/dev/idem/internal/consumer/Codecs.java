package dev.idem.internal.consumer;

import dev.idem.IdemException;
import dev.idem.ResultCodec;
import dev.idem.internal.text.CodecName;
import dev.idem.spi.StoredResult;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What every store can keep of a result. What none can keep must be refused, and not tried again and again. */
public final class Codecs {
    private Codecs() {}

    /** The codec, if its name can be stored; to be asked before there is anything to store. */
    public static <T> ResultCodec<T> usable(ResultCodec<T> codec) {
        CodecName.check(Objects.requireNonNull(codec, "codec").name());
        return codec;
    }

    /** The result as a store keeps it; null stays null. */
    public static <T extends @Nullable Object> @Nullable StoredResult encoded(ResultCodec<T> codec, T result) {
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
