package dev.idem.kafka;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.Attributes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Everything that a listener was told. */
record Plan(
        ClientConfig config,
        List<String> topics,
        Consumer consumer,
        Inbox inbox,
        Attributes attributes,
        RetryPolicy retry,
        UnaryOperator<String> deadLetters,
        int parallelism,
        int instances,
        @Nullable ThreadFactory threads,
        Duration drain,
        int maxPending,
        Tombstones tombstones,
        boolean trustOffsets) {
    /** How long a broker may take to answer a question of ours. */
    static final Duration ANSWER = Duration.ofSeconds(10);

    List<String> deadLetterTopics() {
        return topics.stream().map(deadLetters).distinct().toList();
    }

    /** How long a rebalance may wait for what is being worked on: the group waits no longer than the poll interval. */
    Duration drainInRebalance() {
        Duration bearable = Duration.ofMillis(config.maxPollIntervalMillis() / 2);
        return drain.compareTo(bearable) < 0 ? drain : bearable;
    }
}
