/**
 * Listens to Kafka. {@link dev.idem.kafka.KafkaInbox} starts a {@link dev.idem.kafka.KafkaInboxListener}; {@link
 * dev.idem.kafka.KafkaDeadLetters} reads what was set aside, and sends it again.
 *
 * <p>One thread polls, and goes on polling while lanes work; a {@code PartitionOffsets} knows which records of a partition
 * are unfinished, and so which offset may be committed: never one behind an unfinished record.
 */
@NullMarked
package dev.idem.kafka;

import org.jspecify.annotations.NullMarked;
