package dev.idem.replay;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.internal.replay.ReplayLoop;
import dev.idem.spi.MarkerStore;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Does the replay sessions of its consumers, one after the other, on a thread of its own: in a service, because only there
 * are the consumers' handlers, key rules and policies. Sessions are asked for in the store, by a person. Several services
 * may have one for the same consumer; a session whose executor died is taken over when its lease has run out, and goes on
 * where the last step was written down. Thread-safe.
 *
 * <pre>{@code
 * Replayer replayer = Replayer.builder(inbox).consumer(orders).source(JdbcReplays.stored(schema)).start();
 * }</pre>
 */
public interface Replayer extends AutoCloseable {
    static Builder builder(Inbox inbox) {
        return new Builder(inbox);
    }

    /**
     * Ends after the messages that are being handled, and releases its session, so that another executor goes on with it. The
     * session of a handler that does not end is not renewed any more.
     */
    @Override
    void close();

    /** Collects what a replayer has. Not thread-safe. */
    final class Builder {
        private final Inbox inbox;
        private final Map<String, Consumer> consumers = new LinkedHashMap<>();
        private final Map<String, ReplaySource> sources = new LinkedHashMap<>();
        private RetryPolicy retry = RetryPolicy.exponential(Duration.ofMillis(200), Duration.ofSeconds(30));
        private Duration lease = Duration.ofSeconds(30);
        private Duration poll = Duration.ofSeconds(1);

        private Builder(Inbox inbox) {
            this.inbox = Objects.requireNonNull(inbox, "inbox");
        }

        public Builder consumer(Consumer consumer) {
            consumers.put(consumer.name(), consumer);
            return this;
        }

        public Builder source(ReplaySource source) {
            sources.put(source.scheme(), source);
            return this;
        }

        /** When a message whose handler failed is tried again, and how often; default 10 times, after 200 ms to 30 s. */
        public Builder retry(RetryPolicy value) {
            retry = Objects.requireNonNull(value, "value");
            return this;
        }

        /** After how long without a sign of life another executor takes over; default 30 s, at least a second. */
        public Builder lease(Duration value) {
            if (value.compareTo(Duration.ofSeconds(1)) < 0) {
                throw new IllegalArgumentException("lease is " + value + ", but must be at least a second");
            }
            lease = value;
            return this;
        }

        /** How often it looks for new sessions; default every second. */
        public Builder poll(Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException("poll is " + value + ", but must be positive");
            }
            poll = value;
            return this;
        }

        /**
         * Starts it.
         *
         * @throws UnsupportedOperationException if the store keeps no replay sessions
         */
        public Replayer start() {
            if (consumers.isEmpty() || sources.isEmpty()) {
                throw new IllegalArgumentException("a replayer needs a consumer and a source");
            }
            if (!(inbox.store() instanceof MarkerStore.Replaying replaying)) {
                throw new UnsupportedOperationException(inbox.store().describe() + " keeps no replay sessions");
            }
            consumers
                    .values()
                    .forEach(inbox::register); // else nobody could ask for a session before their first message
            return new ReplayLoop(inbox, consumers, sources, retry, lease, poll, replaying.replays());
        }
    }
}
