package dev.idem.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import dev.idem.IdemException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/** The queues a listener needs: its own, which must be there, and those for dead letters and retries. Thread-safe. */
final class Topology {
    private static final int NOT_FOUND = 404;
    private static final int OTHER_ARGUMENTS = 406;

    private final Options options;

    Topology(Options options) {
        this.options = options;
    }

    @FunctionalInterface
    private interface Ask {
        void of(Channel channel) throws IOException;
    }

    /** Everything, before a listener starts. */
    void check(Connection connection) throws IOException, TimeoutException {
        checkQueue(connection);
        ensure(connection, options.deadLetters());
        for (Duration delay : options.delays()) {
            ensure(connection, retry(delay));
        }
    }

    void checkQueue(Connection connection) throws IOException, TimeoutException {
        ask(connection, "queue " + options.queue(), channel -> channel.queueDeclarePassive(options.queue()));
    }

    /**
     * Whether the queue is a stream. Nothing in AMQP tells it, but only a stream takes a consumer that names an offset. This one
     * begins behind the last message, and so is sent none.
     */
    boolean isStream(Connection connection) throws IOException, TimeoutException {
        Channel channel = connection.createChannel();
        try {
            channel.basicQos(1);
            Map<String, Object> behindTheLast = Map.of("x-stream-offset", "next");
            channel.basicCancel(
                    channel.basicConsume(options.queue(), false, behindTheLast, new DefaultConsumer(channel)));
        } catch (IOException refused) {
            if (Link.refusal(refused).equals(Optional.of(OTHER_ARGUMENTS))) {
                return false;
            }
            throw refused;
        }
        channel.close();
        return true;
    }

    /** Sees to it that a place to publish to is there. */
    void ensure(Connection connection, Target target) throws IOException, TimeoutException {
        Optional<Duration> delay = options.delays().stream()
                .filter(each -> retry(each).equals(target))
                .findFirst();
        if (delay.isPresent() && options.declare()) {
            // Declared anew each time: the broker answers that it is as it must be, or that it is not.
            ask(connection, target.toString(), channel -> declareRetry(channel, target, delay.get()));
        } else if (!options.declare() || !target.exchange().isEmpty()) {
            ask(connection, target.toString(), channel -> look(channel, target));
        } else {
            declareIfMissing(connection, target);
        }
    }

    /** Where a message waits that is to come again after so long; empty if it must wait here. */
    Optional<Target> retryFor(Duration wanted) {
        List<Duration> delays = options.delays();
        if (delays.isEmpty() || wanted.compareTo(delays.get(0)) < 0) {
            return Optional.empty();
        }
        Duration longest = delays.get(delays.size() - 1);
        return Optional.of(retry(delays.stream()
                .filter(delay -> delay.compareTo(wanted) >= 0)
                .findFirst()
                .orElse(longest)));
    }

    private Target retry(Duration delay) {
        return Target.queue(options.queue() + ".retry." + delay.toMillis());
    }

    /**
     * A quorum queue, because only these keep an expired message until the queue it goes back to has it. Each delay has its
     * own: in one queue a long wait in front would hold up the short ones behind it.
     */
    private void declareRetry(Channel channel, Target target, Duration delay) throws IOException {
        channel.queueDeclare(
                target.routingKey(),
                true,
                false,
                false,
                Map.of(
                        "x-queue-type", "quorum",
                        "x-message-ttl", delay.toMillis(),
                        "x-dead-letter-exchange", "",
                        "x-dead-letter-routing-key", options.queue(),
                        "x-dead-letter-strategy", "at-least-once",
                        "x-overflow", "reject-publish"));
    }

    /** A classic queue, because these have no delivery limit: looking at letters must not use them up. */
    private static void declareIfMissing(Connection connection, Target target) throws IOException, TimeoutException {
        try (Channel channel = connection.createChannel()) {
            channel.queueDeclarePassive(target.routingKey());
        } catch (IOException missing) {
            if (!Link.refusal(missing).equals(Optional.of(NOT_FOUND))) {
                throw missing;
            }
            ask(
                    connection,
                    target.toString(),
                    channel -> channel.queueDeclare(target.routingKey(), true, false, false, Map.of()));
        }
    }

    private static void look(Channel channel, Target target) throws IOException {
        if (target.exchange().isEmpty()) {
            channel.queueDeclarePassive(target.routingKey());
        } else {
            channel.exchangeDeclarePassive(target.exchange());
        }
    }

    /** On a channel of its own, which the broker closes if it refuses. */
    private static void ask(Connection connection, String what, Ask ask) throws IOException, TimeoutException {
        Channel channel = connection.createChannel();
        try {
            ask.of(channel);
        } catch (IOException failure) {
            Optional<Integer> refusal = Link.refusal(failure);
            if (refusal.isEmpty()) {
                throw failure;
            }
            String why = switch (refusal.get()) {
                case NOT_FOUND -> "does not exist: declare it, durable";
                case OTHER_ARGUMENTS ->
                    "exists with other arguments, or needs RabbitMQ 3.10: delete it,"
                            + " choose other delays, or keep the order";
                default -> "is refused by the broker";
            };
            throw new IdemException("The " + what + " " + why + " (" + Link.words(failure) + ")", failure);
        }
        channel.close();
    }
}
