package dev.idem.kafka;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.broker.spi.ListenerOptions;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Everything that a listener was told. */
record Plan(
        ClientConfig config,
        List<String> topics,
        Consumer consumer,
        Inbox inbox,
        ListenerOptions<ConsumerRecord<byte[], byte[]>> options,
        UnaryOperator<String> deadLetters,
        int instances,
        Tombstones tombstones,
        boolean trustOffsets) {
    /** How long a broker may take to answer a question of ours. */
    static final Duration ANSWER = Duration.ofSeconds(5);

    List<String> deadLetterTopics() {
        return topics.stream().map(deadLetters).distinct().toList();
    }

    /** The members of a listener share what it may keep in memory. */
    int maxPending() {
        return Math.max(1, options.maxPending() / instances);
    }

    long maxPendingBytes() {
        return Math.max(1, options.maxPendingBytes() / instances);
    }

    /** How long a rebalance may wait for what is being worked on: the group waits no longer than the poll interval. */
    Duration drainInRebalance() {
        Duration bearable = Duration.ofMillis(config.maxPollIntervalMillis() / 2);
        return options.drain().compareTo(bearable) < 0 ? options.drain() : bearable;
    }
}
