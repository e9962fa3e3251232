package dev.idem.kafka;

/** What becomes of a record without a value, by which Kafka says that a key is deleted. */
public enum Tombstones {
    /**
     * It goes to the handler, with an empty payload and the header {@link KafkaInbox#TOMBSTONE}; without an id of its own it is
     * known by its place. If the consumer has no handler for it, it is acknowledged. The default.
     */
    PROCESS,
    /** It is acknowledged, and no handler sees it. */
    ACKNOWLEDGE
}
