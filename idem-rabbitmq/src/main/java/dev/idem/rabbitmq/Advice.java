package dev.idem.rabbitmq;

import com.rabbitmq.client.Connection;
import dev.idem.Consumer;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns, once at the start, of what will go wrong later. */
final class Advice {
    private static final Logger log = LoggerFactory.getLogger(RabbitInboxListener.class);

    private Advice() {}

    static void early(Options options, Consumer consumer) {
        Duration handler = consumer.policy().handlerTimeout();
        if (handler.compareTo(options.longestHold()) >= 0) {
            log.warn(
                    "{}: handlers may run for {}, but deliveries are given back after {}; lower handlerTimeout, or make"
                            + " the consumer queued",
                    consumer.name(),
                    handler,
                    options.longestHold());
        }
        if (options.delays().isEmpty() && waits(options).compareTo(options.longestHold()) > 0) {
            log.warn(
                    "{}: keeps order, and retries can take longer than the {} after which deliveries are given back and"
                            + " failures forgotten; allow fewer or shorter retries, or make the consumer queued",
                    consumer.name(),
                    options.longestHold());
        }
    }

    /** About how long a message waits in all; delays may be random. */
    private static Duration waits(Options options) {
        Duration sum = Duration.ZERO;
        RuntimeException any = new IllegalStateException();
        for (int failures = 1;
                failures < Math.min(1_000, options.common().retry().maxAttempts());
                failures++) {
            sum = sum.plus(options.common().retry().next(failures, any).orElse(Duration.ZERO));
        }
        return sum;
    }

    static void onServer(Options options, Connection connection) {
        String version = version(connection);
        log.info(
                "Listens to queue {} of RabbitMQ {}: prefetch {}, dead letters to {}, retry queues {}",
                options.queue(),
                version,
                options.prefetch(),
                options.deadLetters(),
                options.delays());
        if (major(version) >= 4) {
            log.warn(
                    "Queue {}: if it is a quorum queue, RabbitMQ {} drops a message that was delivered more often than its"
                            + " x-delivery-limit, 20 by default; give the queue a dead-letter exchange, so that nothing gets"
                            + " lost",
                    options.queue(),
                    version);
        }
    }

    private static String version(Connection connection) {
        Map<String, Object> properties = connection.getServerProperties();
        return properties == null ? "unknown" : Objects.toString(properties.get("version"), "unknown");
    }

    private static int major(String version) {
        try {
            return Integer.parseInt(version.split("\\.", -1)[0]);
        } catch (NumberFormatException unknown) {
            return 0;
        }
    }
}
