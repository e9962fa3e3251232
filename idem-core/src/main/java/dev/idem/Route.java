package dev.idem;

import dev.idem.batch.BatchHandler;
import dev.idem.internal.text.CodecName;
import dev.idem.steps.StepHandler;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How the messages of a kind are decoded and handled: one by one, together, or in steps. Immutable. */
public sealed interface Route {
    /** Each by itself; the result is kept if there is a codec. */
    record Each<E, T extends @Nullable Object>(
            PayloadDecoder<E> decoder,
            Handler<E, T> handler,
            @Nullable ResultCodec<T> codec) implements Route {
        public Each {
            Objects.requireNonNull(decoder, "decoder");
            Objects.requireNonNull(handler, "handler");
            if (codec != null) {
                CodecName.check(codec.name());
            }
        }
    }

    /** Many in one call. */
    record Together<E>(PayloadDecoder<E> decoder, BatchHandler<E> handler) implements Route {
        public Together {
            Objects.requireNonNull(decoder, "decoder");
            Objects.requireNonNull(handler, "handler");
        }
    }

    /** Each in steps, every one of which has a transaction of its own. */
    record Stepwise<E>(PayloadDecoder<E> decoder, StepHandler<E> handler) implements Route {
        public Stepwise {
            Objects.requireNonNull(decoder, "decoder");
            Objects.requireNonNull(handler, "handler");
        }
    }
}
