package dev.idem;

import dev.idem.internal.text.Text;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Says what makes two deliveries the same message for a consumer. Must depend on the message alone: an id made by the
 * consumer, or one that changes with each attempt, recognises nothing. Thread-safe.
 */
@FunctionalInterface
public interface KeySelector {
    Selection select(Message message);

    /**
     * The id, together with the source if the message has one: two sources of CloudEvents may use the same id for two events.
     * The default.
     */
    static KeySelector identity() {
        return message -> {
            Selection id = Selection.of(message.id());
            String source = message.source().orElse(null);
            return source == null ? id : id.fromSource(source);
        };
    }

    /** The id alone, whoever made the message. Only where all ids are unique across all producers: UUIDs, say. */
    static KeySelector messageId() {
        return KeySelector::ofId;
    }

    /** A message without an id may know where it was looked for. */
    private static Selection ofId(Message message) {
        return message.id().isPresent()
                ? Selection.of(message.id())
                : new Selection.Unusable(
                        Rejection.KEY_MISSING,
                        message.idSought()
                                .map("the message has no id, or more than one; it was looked for in "::concat)
                                .orElse(
                                        "the message has no id: set it with Message.builder().id(…), or let the consumer take"
                                                + " its key from elsewhere, with key(KeySelector.header(…)) say"));
    }

    /** CloudEvents source and id, which are unique only together. A message without a source is refused. */
    static KeySelector cloudEvent() {
        return message -> message.source().isEmpty()
                ? new Selection.Unusable(
                        Rejection.KEY_MISSING,
                        "the message has no source, which CloudEvents have in the header ce_source (Kafka), ce-source (HTTP),"
                                + " cloudEvents:source or cloudEvents_source (AMQP)")
                : ofId(message).fromSource(message.source().get());
    }

    /** A header that must be there exactly once and be UTF-8. */
    static KeySelector header(String name) {
        Objects.requireNonNull(name, "name");
        return message -> {
            List<Header> found = message.headers(name);
            String label = "header " + Text.printable(name);
            if (found.isEmpty()) {
                return new Selection.Unusable(Rejection.KEY_MISSING, label + " is absent");
            }
            if (found.size() > 1) {
                return new Selection.Unusable(Rejection.KEY_MALFORMED, label + " is there " + found.size() + " times");
            }
            Optional<String> text = Text.strictUtf8(found.get(0).rawValue());
            return text.isPresent()
                    ? Selection.of(text)
                    : new Selection.Unusable(Rejection.KEY_MALFORMED, label + " is not UTF-8");
        };
    }

    /** A business key from parts, such as an order number and a step. Parts are never concatenated. */
    static KeySelector business(Function<Message, List<String>> parts) {
        Objects.requireNonNull(parts, "parts");
        return message -> Selection.of(parts.apply(message));
    }

    /**
     * The transport's position. Recognises redelivery only: a message published again, mirrored or moved by a retry
     * topic has a new position and is new. Choose it only when the messages carry nothing better.
     */
    static KeySelector position() {
        return message -> message.position()
                .map(p -> Selection.of(List.of(p.stream(), Integer.toString(p.partition()), Long.toString(p.offset()))))
                .orElseGet(() ->
                        new Selection.Unusable(Rejection.KEY_MISSING, "the transport gave the message no position"));
    }

    /** Adds the tenant to the key, so that equal ids of two tenants are two messages. */
    default KeySelector perTenant(Function<Message, Optional<String>> tenant) {
        return OrderedKey.ofTenant(this, Objects.requireNonNull(tenant, "tenant"));
    }

    /**
     * Replaces the key, with tenant and source, by its HMAC-SHA-256 with a secret of at least 16 bytes. For ids that say
     * something about a person and can be guessed: a marker outlives the erasing of its message, and of an ordinary key anybody
     * who can read it can test a guess. All instances of a consumer need the same secret; with another one every message is
     * new. Such keys bear no time: call {@link #withEventTime} after this where markers are partitioned by time.
     */
    default KeySelector keyed(byte[] secret) {
        return KeyedParts.of(this, secret);
    }

    /**
     * Promises that the last part of the key is a UUIDv7 or a ULID; a message where it is not is {@link
     * Outcome.Rejected} with {@link Rejection#KEY_NOT_TIME_ORDERED}. A store whose markers are partitioned by time takes
     * no others. Keys are the same as without the promise.
     */
    default KeySelector timeOrdered() {
        return OrderedKey.byId(this);
    }

    /**
     * Adds the time of the event to the key, to the millisecond, and in front. For ids that bear no time, where the
     * markers are partitioned by it. The time must be the producer's own and the same in every delivery: a message that is
     * published again with another event time is another message.
     */
    default KeySelector withEventTime() {
        return OrderedKey.byEventTime(this);
    }

    /** Whether every key begins with the time its message was made; see {@link #timeOrdered} and {@link #withEventTime}. */
    default boolean isTimeOrdered() {
        return false;
    }
}
