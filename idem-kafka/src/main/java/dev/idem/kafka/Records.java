package dev.idem.kafka;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.Position;
import dev.idem.broker.Attributes;
import java.time.Instant;
import java.util.HexFormat;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** Turns records into messages. What cannot be read as an attribute is absent, never an error. */
final class Records {
    private static final String CONTENT_TYPE = "content-type";

    private final Attributes attributes;

    Records(Attributes attributes) {
        this.attributes = attributes;
    }

    /**
     * The message that a record is.
     *
     * @param stream names the topic for good; null if it is not known
     */
    Message message(ConsumerRecord<byte[], byte[]> record, @Nullable String stream) {
        Message.Builder raw = Message.builder();
        String contentType = null;
        int contentTypes = 0;
        for (org.apache.kafka.common.header.Header header : record.headers()) {
            byte[] value = header.value() == null ? new byte[0] : header.value();
            raw.header(header.key(), value);
            if (header.key().equals(CONTENT_TYPE)) {
                contentTypes++;
                contentType = text(value);
            }
        }
        if (contentTypes == 1) {
            raw.contentType(contentType);
        }
        if (record.value() == null) {
            raw.header(KafkaInbox.TOMBSTONE, "true");
        } else {
            raw.payload(record.value());
        }
        if (stream != null) {
            raw.position(new Position(stream, record.partition(), record.offset()));
        }
        return attributes.read(raw.build(), new Attributes.Broker(null, null, key(record.key()), time(record)));
    }

    /** The key as text: itself if it is UTF-8, else its bytes in hexadecimal digits. */
    static @Nullable String key(byte @Nullable [] key) {
        if (key == null) {
            return null;
        }
        String text = text(key);
        return text != null ? text : "hex:" + HexFormat.of().formatHex(key);
    }

    /** The broker's own time says when a copy was stored, and would make an old message look young. */
    private static @Nullable Instant time(ConsumerRecord<byte[], byte[]> record) {
        boolean fromProducer = record.timestampType() == TimestampType.CREATE_TIME && record.timestamp() >= 0;
        return fromProducer ? Instant.ofEpochMilli(record.timestamp()) : null;
    }

    private static @Nullable String text(byte[] bytes) {
        return new Header("text", bytes).utf8().orElse(null);
    }

    /** As {@link Header} has it, for the rules of dead letters. */
    static Header header(org.apache.kafka.common.header.Header header) {
        return new Header(header.key(), header.value() == null ? new byte[0] : header.value());
    }
}
