package dev.idem.kafka;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.MessageReader;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/**
 * Makes messages of records, for a listener of Idem's or for a loop of your own. The payload is the record's own array, which
 * nobody may change from then on. What cannot be read as an attribute is absent, never an error.
 */
public final class KafkaMessages {
    private static final String CONTENT_TYPE = "content-type";
    private static final Header TOMBSTONE = new Header(DeliveryHeaders.TOMBSTONE, "true");
    private static final MessageReader<ConsumerRecord<byte[], byte[]>> READER = MessageReader.of(KafkaMessages::open);

    private KafkaMessages() {}

    /**
     * Reads a record: its headers as {@link Attributes} says, its key as the ordering key, its time if the producer set it. A
     * tombstone without an id gets one from its place: nobody sends an id with those that a broker or a connector makes.
     * Messages read by a loop of your own have no position, so a watermark consumer cannot take them.
     */
    public static MessageReader<ConsumerRecord<byte[], byte[]>> reader() {
        return READER;
    }

    private static MessageReader.Delivered open(ConsumerRecord<byte[], byte[]> record) {
        Message.Builder raw = Message.builder();
        String contentType = null;
        int contentTypes = 0;
        for (org.apache.kafka.common.header.Header header : record.headers()) {
            byte[] value = value(header);
            raw.header(header.key(), value);
            if (header.key().equals(CONTENT_TYPE)) {
                contentTypes++;
                contentType = text(value);
            }
        }
        if (contentTypes == 1) {
            raw.contentType(contentType);
        }
        if (record.value() != null) {
            raw.sharedPayload(record.value());
        }
        Header topic = new Header(DeliveryHeaders.TOPIC, record.topic());
        boolean tombstone = record.value() == null;
        return new MessageReader.Delivered(
                raw.build(),
                new Attributes.Broker(tombstone ? place(record) : null, null, key(record.key()), time(record)),
                tombstone ? List.of(topic, TOMBSTONE) : List.of(topic));
    }

    /** With the time, because a topic that was made anew has the same places again. */
    private static String place(ConsumerRecord<byte[], byte[]> record) {
        return "tombstone:" + record.topic() + "-" + record.partition() + "@" + record.offset() + "/"
                + record.timestamp();
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

    private static byte[] value(org.apache.kafka.common.header.Header header) {
        return header.value() == null ? new byte[0] : header.value();
    }
}
