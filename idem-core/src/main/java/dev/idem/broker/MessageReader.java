package dev.idem.broker;

import dev.idem.Header;
import dev.idem.Message;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a {@link Message} of a delivery, for a listener of Idem's or for a loop of your own. An attribute comes from the
 * function that is named for it here; else from where {@link Attributes} says. Immutable and thread-safe.
 *
 * <pre>{@code
 * KafkaMessages.reader().idFrom(record -> record.topic() + "-" + new String(record.key(), UTF_8))
 * }</pre>
 *
 * <p>A function that answers null leaves the attribute to the others. One that throws is logged, and the attribute is
 * absent: a message without an id is then set aside by the consumer's policy.
 *
 * @param <D> a delivery, as the broker's client has it
 */
public final class MessageReader<D> {
    private static final Logger log = LoggerFactory.getLogger(MessageReader.class);
    private static final long WARN_EVERY = 1_000;

    private final Function<? super D, Delivered> opener;
    private final Attributes attributes;
    private final List<Taken<D>> functions;
    private final AtomicLong failures = new AtomicLong();

    private MessageReader(Function<? super D, Delivered> opener, Attributes attributes, List<Taken<D>> functions) {
        this.opener = Objects.requireNonNull(opener, "opener");
        this.attributes = Objects.requireNonNull(attributes, "attributes");
        this.functions = List.copyOf(functions);
    }

    /**
     * A delivery as it arrived.
     *
     * @param raw payload, headers, content type and position
     * @param broker what the broker itself has
     * @param added headers of ours, by which the adapter tells the handler something about the delivery
     */
    public record Delivered(Message raw, Attributes.Broker broker, List<Header> added) {
        public Delivered {
            added = List.copyOf(added);
        }

        public Delivered(Message raw, Attributes.Broker broker) {
            this(raw, broker, List.of());
        }
    }

    private static final String ID = "id";

    private record Taken<D>(String attribute, BiConsumer<D, Message.Builder> setter) {}

    /** For those who write an adapter. */
    public static <D> MessageReader<D> of(Function<? super D, Delivered> opener) {
        return new MessageReader<>(opener, Attributes.defaults(), List.of());
    }

    /** The headers that attributes come from. */
    public MessageReader<D> attributes(Attributes value) {
        return new MessageReader<>(opener, value, functions);
    }

    public MessageReader<D> idFrom(Function<? super D, ? extends @Nullable String> function) {
        return with(ID, function, Message.Builder::id);
    }

    public MessageReader<D> sourceFrom(Function<? super D, ? extends @Nullable String> function) {
        return with("source", function, Message.Builder::source);
    }

    public MessageReader<D> typeFrom(Function<? super D, ? extends @Nullable String> function) {
        return with("type", function, Message.Builder::type);
    }

    public MessageReader<D> versionFrom(Function<? super D, ? extends @Nullable String> function) {
        return with("version", function, Message.Builder::version);
    }

    public MessageReader<D> orderingKeyFrom(Function<? super D, ? extends @Nullable String> function) {
        return with("ordering key", function, Message.Builder::orderingKey);
    }

    public MessageReader<D> timeFrom(Function<? super D, ? extends @Nullable Instant> function) {
        return with("time", function, Message.Builder::eventTime);
    }

    private <T> MessageReader<D> with(
            String attribute,
            Function<? super D, ? extends @Nullable T> function,
            BiConsumer<Message.Builder, @Nullable T> setter) {
        Objects.requireNonNull(function, "function");
        List<Taken<D>> more = new ArrayList<>(functions);
        more.add(new Taken<>(attribute, (delivery, message) -> {
            try {
                T value = function.apply(delivery);
                if (value != null) {
                    setter.accept(message, value);
                }
            } catch (
                    RuntimeException
                            broken) { // another id than the one that was asked for could merge or split messages
                failed(attribute, broken);
                setter.accept(message, null);
            }
        }));
        return new MessageReader<>(opener, attributes, more);
    }

    /**
     * The message that a delivery is. Headers that begin with {@code idem-} are left out, for no producer may set them; but those
     * of an outbox stay: {@link Attributes} says which.
     */
    public Message read(D delivery) {
        return read(delivery, opener.apply(delivery));
    }

    /** The message with our own headers too. Only for places to which nobody else writes: dead letters. */
    public Message readLetter(D delivery) {
        Delivered delivered = opener.apply(delivery);
        Message message = read(delivery, new Delivered(delivered.raw(), delivered.broker()));
        Message raw = delivered.raw();
        List<Header> derived = message.headers().stream()
                .filter(header -> raw.headers(header.name()).isEmpty())
                .toList();
        return message.toBuilder()
                .withHeaders(raw.headers())
                .headers(derived)
                .headers(DeliveryHeaders.ofLetter(raw, delivered.added()))
                .build();
    }

    /** The delivery as it arrived, all headers included. */
    public Message raw(D delivery) {
        return opener.apply(delivery).raw();
    }

    private Message read(D delivery, Delivered delivered) {
        Message message = attributes.read(delivered.raw(), delivered.broker());
        if (functions.isEmpty() && delivered.added.isEmpty()) {
            return message;
        }
        Message.Builder read = message.toBuilder().headers(delivered.added);
        for (Taken<D> function : functions) {
            function.setter.accept(delivery, read);
            if (function.attribute.equals(ID)) {
                read.idSought("what the function idFrom(…) answers, which was null or failed");
            }
        }
        return read.build();
    }

    /** The exception's text may quote the payload. */
    private void failed(String attribute, RuntimeException broken) {
        if (failures.getAndIncrement() % WARN_EVERY == 0) {
            log.warn(
                    "The function for the {} of a message threw {} at {}; the message goes on without it",
                    attribute,
                    broken.getClass().getName(),
                    broken.getStackTrace().length == 0 ? "an unknown place" : broken.getStackTrace()[0]);
        }
    }
}
