package dev.idem.rabbitmq;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import dev.idem.broker.spi.ListenerOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How to listen. Immutable.
 *
 * @param common what all listeners are told
 * @param prefetch how many messages the broker sends ahead at most
 * @param streamName under which the marks of a stream are kept
 * @param streamFrom the offset at which a consumer without a mark begins
 * @param delays of the retry queues, sorted; none if retries wait in the listener
 */
record Options(
        ConnectionFactory factory,
        String queue,
        ListenerOptions<Delivery> common,
        List<Address> addresses,
        Target deadLetters,
        List<Duration> delays,
        int prefetch,
        Duration longestHold,
        boolean declare,
        String streamName,
        long streamFrom) {
    private static final Duration SHORTEST_DELAY = Duration.ofMillis(100);
    private static final Duration LONGEST_DELAY = Duration.ofDays(30);

    static void checkBetween(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    name + " is " + value + ", but must be between " + least + " and " + most);
        }
    }

    static List<Duration> checkedDelays(Duration... values) {
        List<Duration> sorted = new ArrayList<>(List.of(values));
        for (Duration value : sorted) {
            if (value.compareTo(SHORTEST_DELAY) < 0 || value.compareTo(LONGEST_DELAY) > 0) {
                throw new IllegalArgumentException(
                        "a delay is " + value + ", but must be between " + SHORTEST_DELAY + " and " + LONGEST_DELAY);
            }
        }
        return sorted.stream().sorted().distinct().toList();
    }
}
