package dev.idem.kafka;

import java.time.Duration;
import org.apache.kafka.clients.admin.Admin;

/** The clients that all members of a listener share, and what they wait for. Thread-safe. */
record Clients(Admin admin, DeadLetterSender sender, Streams streams, DeadLetterTopics deadLetterTopics, Waits waits)
        implements AutoCloseable {
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(2);

    static Clients create(String name, Plan plan) {
        Admin admin = Admin.create(plan.config().admin());
        try {
            Waits waits = new Waits(name);
            return new Clients(
                    admin,
                    new DeadLetterSender(plan.config().letters()),
                    new Streams(admin, plan.topics(), Plan.ANSWER, waits),
                    new DeadLetterTopics(admin, plan.deadLetters(), Plan.ANSWER, waits),
                    waits);
        } catch (RuntimeException failure) {
            admin.close(Duration.ZERO);
            throw failure;
        }
    }

    /** Whether there is a topic to read, with a topic for its dead letters. */
    boolean areReady() {
        streams.refresh();
        return !streams.known().isEmpty() && deadLetterTopics.ensure(streams.known());
    }

    @Override
    public void close() {
        waits.end();
        sender.close();
        admin.close(CLOSE_LIMIT);
    }
}
