package dev.idem;

import dev.idem.internal.text.Text;
import dev.idem.queue.Outbox;
import dev.idem.replay.ReplaySource;
import dev.idem.spi.MarkerKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What arrived, as bytes and attributes. Immutable and thread-safe.
 *
 * <p>Nothing is required: a message without an id can be built, so that the consumer's policy and not an exception
 * decides about it. The payload is never logged.
 */
public final class Message {
    /** What a header costs beside its bytes, in memory and when it is stored: a million empty ones are not a small message. */
    private static final int HEADER_OVERHEAD = 64;

    private final Builder fields;

    private Message(Builder fields) {
        this.fields = fields;
    }

    public static Builder builder() {
        return new Builder();
    }

    /** The shortest message: an id and a payload. */
    public static Message of(String id, byte[] payload) {
        return builder().id(id).payload(payload).build();
    }

    public Optional<String> id() {
        return Optional.ofNullable(fields.id);
    }

    /** Who made the message (CloudEvents {@code source}), never the transport it came over. */
    public Optional<String> source() {
        return Optional.ofNullable(fields.source);
    }

    public Optional<String> type() {
        return Optional.ofNullable(fields.type);
    }

    public Optional<String> version() {
        return Optional.ofNullable(fields.version);
    }

    public Optional<String> orderingKey() {
        return Optional.ofNullable(fields.orderingKey);
    }

    /** A copy of the payload. */
    public byte[] payload() {
        return fields.payload.clone();
    }

    /** How many bytes the payload has. */
    public int payloadSize() {
        return fields.payload.length;
    }

    /** The payload itself, for hashing and decoding inside this package without a copy. */
    public byte[] rawPayload() {
        return fields.payload;
    }

    /** How many bytes payload and headers have. */
    public long size() {
        long size = fields.payload.length;
        for (Header header : headers()) {
            size += header.name().length() + header.rawValue().length + HEADER_OVERHEAD;
        }
        return size;
    }

    public Optional<String> contentType() {
        return Optional.ofNullable(fields.contentType);
    }

    /** All headers in the order they arrived; a name may stand more than once. */
    public List<Header> headers() {
        return fields.headers;
    }

    /** All headers of that name; names are compared exactly. */
    public List<Header> headers(String name) {
        return headers().stream().filter(h -> h.name().equals(name)).toList();
    }

    /** The text of the only header of that name; empty if it stands twice, or is not UTF-8: nobody may choose between two ids. */
    public Optional<String> header(String name) {
        Header only = null;
        for (Header header : headers()) {
            if (header.name().equals(name)) {
                if (only != null) {
                    return Optional.empty();
                }
                only = header;
            }
        }
        return only == null ? Optional.empty() : only.utf8();
    }

    /**
     * What everything that began with one message has in common, as the producer says it: CloudEvents {@code correlationid}, the
     * correlation id of AMQP or Jakarta Messaging, or the header that is named for it. What handlers publish has the same one.
     */
    public Optional<String> correlationId() {
        return header(Outbox.CORRELATION_ID);
    }

    /** The id of the message that led to this one, if the producer says it: CloudEvents {@code causationid}, say. */
    public Optional<String> causationId() {
        return header(Outbox.CAUSATION_ID);
    }

    public Optional<Instant> eventTime() {
        return Optional.ofNullable(fields.eventTime);
    }

    public Optional<Position> position() {
        return Optional.ofNullable(fields.position);
    }

    /** The name of the replay session this delivery belongs to, if it is a deliberate redelivery. */
    public Optional<String> replaySession() {
        return Optional.ofNullable(fields.replaySession);
    }

    /**
     * The key under which a consumer's store knows it already, if whoever delivers it again knows that: then it counts,
     * whatever the consumer's rule would make of the message now, for a person may have edited that.
     */
    public Optional<MarkerKey> markedAs() {
        return Optional.ofNullable(fields.markedAs);
    }

    /** The same message in another replay session, or in none. */
    public Message inSession(@Nullable String session) {
        return toBuilder().replaySession(session).markedAs(fields.markedAs).build();
    }

    /** Where whoever has read a message without an id has looked for one, in words. */
    public Optional<String> idSought() {
        return Optional.ofNullable(fields.idSought);
    }

    /** A builder that starts with everything this message has but {@link #markedAs}: what is changed is another message. */
    public Builder toBuilder() {
        return new Builder(fields);
    }

    @Override
    public String toString() {
        return "Message[id=" + Text.printable(id().orElse("none"))
                + ", type=" + Text.printable(type().orElse("none"))
                + ", " + fields.payload.length + " bytes]";
    }

    /** Collects what a message has. Not thread-safe. */
    public static final class Builder {
        private @Nullable String id;
        private @Nullable String source;
        private @Nullable String type;
        private @Nullable String version;
        private @Nullable String orderingKey;
        private byte[] payload = {};
        private @Nullable String contentType;
        private List<Header> headers = List.of();
        private boolean growing;
        private @Nullable Instant eventTime;
        private @Nullable Position position;
        private @Nullable String replaySession;
        private @Nullable MarkerKey markedAs;
        private @Nullable String idSought;

        private Builder() {}

        private Builder(Builder from) {
            id = from.id;
            source = from.source;
            type = from.type;
            version = from.version;
            orderingKey = from.orderingKey;
            payload = from.payload;
            contentType = from.contentType;
            headers = List.copyOf(from.headers); // no copy, where it cannot change any more
            eventTime = from.eventTime;
            position = from.position;
            replaySession = from.replaySession;
            idSought = from.idSought;
        }

        public Builder id(@Nullable String value) {
            id = value;
            return this;
        }

        public Builder source(@Nullable String value) {
            source = value;
            return this;
        }

        public Builder type(@Nullable String value) {
            type = value;
            return this;
        }

        public Builder version(@Nullable String value) {
            version = value;
            return this;
        }

        public Builder orderingKey(@Nullable String value) {
            orderingKey = value;
            return this;
        }

        public Builder payload(byte[] value) {
            payload = value.clone();
            return this;
        }

        /** The payload itself and no copy of it, for large messages. Nobody may change the array from now on. */
        public Builder sharedPayload(byte[] value) {
            payload = Objects.requireNonNull(value, "value");
            return this;
        }

        public Builder contentType(@Nullable String value) {
            contentType = value;
            return this;
        }

        public Builder header(String name, String value) {
            return add(new Header(name, value));
        }

        public Builder header(String name, byte[] value) {
            return add(new Header(name, value));
        }

        private Builder add(Header header) {
            if (!growing) {
                headers = new ArrayList<>(headers);
                growing = true;
            }
            headers.add(header);
            return this;
        }

        /** These in place of all that it has. */
        public Builder withHeaders(List<Header> values) {
            headers = new ArrayList<>();
            growing = true;
            return headers(values);
        }

        public Builder headers(List<Header> values) {
            values.forEach(value -> add(Objects.requireNonNull(value, "value")));
            return this;
        }

        public Builder eventTime(@Nullable Instant value) {
            eventTime = value;
            return this;
        }

        public Builder position(@Nullable Position value) {
            position = value;
            return this;
        }

        public Builder replaySession(@Nullable String value) {
            replaySession = value;
            return this;
        }

        /**
         * For a {@link ReplaySource} that knows the marker of what it reads. Never take it from the message itself: it
         * decides what is a duplicate. Not copied by {@link Message#toBuilder}.
         */
        public Builder markedAs(@Nullable MarkerKey value) {
            markedAs = value;
            return this;
        }

        /** For adapters: where an id was looked for, in words, so that a message without one can say what it lacks. */
        public Builder idSought(@Nullable String value) {
            idSought = value;
            return this;
        }

        /**
         * Takes id, source, type, time, content type and ordering key from CloudEvents binary-mode headers, where they
         * are not set yet. Understands the names of Kafka ({@code ce_id}), HTTP ({@code ce-id}) and AMQP
         * ({@code cloudEvents:id}, {@code cloudEvents_id}). A repeated or non-UTF-8 attribute counts as absent, because
         * choosing one of two ids could merge or split messages.
         */
        public Builder fromCloudEventHeaders() {
            CloudEventHeaders event = new CloudEventHeaders(headers);
            id = id != null ? id : event.attribute("id");
            source = source != null ? source : event.attribute("source");
            type = type != null ? type : event.attribute("type");
            orderingKey = orderingKey != null ? orderingKey : event.attribute("partitionkey");
            eventTime = eventTime != null ? eventTime : event.time();
            contentType = contentType != null ? contentType : event.contentType();
            return this;
        }

        public Message build() {
            Builder fields = new Builder(this);
            fields.markedAs = markedAs;
            return new Message(fields);
        }
    }
}
