package dev.idem.rabbitmq;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.RetryPolicy;
import dev.idem.broker.Attributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;

/** How to listen. Changed only before a listener has it. */
final class Options {
    private static final Duration SHORTEST_DELAY = Duration.ofMillis(100);
    private static final Duration LONGEST_DELAY = Duration.ofDays(30);

    final ConnectionFactory factory;
    final String queue;
    List<Address> addresses = List.of();
    Attributes attributes = Attributes.defaults();
    RetryPolicy retry = RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofMinutes(5));
    Target deadLetters;
    List<Duration> delays =
            Stream.of(1, 5, 15, 60, 300).map(Duration::ofSeconds).toList();
    int prefetch = 250;
    int parallelism = 1;
    Duration drain = Duration.ofSeconds(30);
    Duration longestHold = Duration.ofMinutes(25);
    ThreadFactory threads = Options::daemon;
    boolean declare = true;

    private Options(ConnectionFactory factory, String queue, Target deadLetters) {
        this.factory = factory;
        this.queue = queue;
        this.deadLetters = deadLetters;
    }

    static Options defaults(ConnectionFactory factory, String queue) {
        return new Options(factory, queue, new Target("", queue + ".dead-letters"));
    }

    Options copy() {
        Options copy = new Options(factory, queue, deadLetters);
        copy.addresses = addresses;
        copy.attributes = attributes;
        copy.retry = retry;
        copy.delays = delays;
        copy.prefetch = prefetch;
        copy.parallelism = parallelism;
        copy.drain = drain;
        copy.longestHold = longestHold;
        copy.threads = threads;
        copy.declare = declare;
        return copy;
    }

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

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }
}
