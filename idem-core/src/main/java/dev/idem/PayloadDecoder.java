package dev.idem;

import java.nio.charset.StandardCharsets;

/**
 * Turns a message's bytes into what a handler takes. A decoder that throws makes the message {@code Rejected}: the same
 * bytes would fail again. One that could not ask a schema registry throws {@link dev.idem.RetryableException} instead,
 * and the message comes again. Never chooses a class from a header. Thread-safe.
 */
@FunctionalInterface
public interface PayloadDecoder<E> {
    E decode(Message message) throws Exception;

    static PayloadDecoder<byte[]> bytes() {
        return Message::payload;
    }

    static PayloadDecoder<String> text() {
        return message -> new String(message.payload(), StandardCharsets.UTF_8);
    }

    /** The message itself, for handlers that want its headers and decode by themselves. */
    static PayloadDecoder<Message> message() {
        return message -> message;
    }
}
