package dev.idem.kafka;

import java.time.Duration;
import org.apache.kafka.clients.admin.Admin;

/** The clients that all members of a listener share. Thread-safe. */
record Clients(Admin admin, DeadLetterSender sender, Streams streams, DeadLetterTopics deadLetterTopics)
        implements AutoCloseable {
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(2);

    static Clients create(Plan plan) {
        Admin admin = Admin.create(plan.config().admin());
        try {
            return new Clients(
                    admin,
                    new DeadLetterSender(plan.config().producer("-dead-letters")),
                    new Streams(admin, Plan.ANSWER),
                    new DeadLetterTopics(admin, plan.deadLetterTopics(), Plan.ANSWER));
        } catch (RuntimeException failure) {
            admin.close(Duration.ZERO);
            throw failure;
        }
    }

    @Override
    public void close() {
        sender.close();
        admin.close(CLOSE_LIMIT);
    }
}
