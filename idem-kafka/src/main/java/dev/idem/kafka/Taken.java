package dev.idem.kafka;

import org.apache.kafka.clients.consumer.ConsumerRecord;

/** A record that was fetched, and the assignment under which it was. */
record Taken(ConsumerRecord<byte[], byte[]> record, PartitionOffsets offsets) {
    void finish() {
        offsets.finish(record.offset());
    }
}
