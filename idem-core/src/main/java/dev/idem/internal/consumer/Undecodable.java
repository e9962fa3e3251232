package dev.idem.internal.consumer;

import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.Rejection;
import dev.idem.RetryableException;
import org.jspecify.annotations.Nullable;

/** Carries a decoder's exception past the unit, where it must not look like the handler's. */
public final class Undecodable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String type;

    private Undecodable(Throwable cause) {
        super(cause);
        type = cause.getClass().getName();
    }

    public static <E> E decoded(PayloadDecoder<E> decoder, Message message) throws InterruptedException {
        try {
            return decoder.decode(message);
        } catch (InterruptedException | RetryableException notTheMessage) {
            throw notTheMessage;
        } catch (Exception | StackOverflowError unreadable) { // the latter by deep nesting
            throw new Undecodable(unreadable);
        }
    }

    public <T extends @Nullable Object> Outcome<T> outcome() {
        // The cause's text may quote the payload, so only its type is told.
        return new Outcome.Rejected<>(Rejection.UNDECODABLE, "the payload could not be decoded: " + type);
    }
}
