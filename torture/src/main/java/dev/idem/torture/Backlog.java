package dev.idem.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.jdbc.JdbcStore;

/** What has come in while no worker was there. */
final class Backlog {
    private Backlog() {}

    /** Stores the large messages of the plan, of which a worker can hold only a few. They will be delivered all the same. */
    static void store(String url, Plan plan, Defect defect) {
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(4);
        Consumer consumer = Consumer.named(Mode.LOCAL.consumer())
                .key(defect.key())
                .queued(Mode.LOCAL.policy())
                .otherwise((message, tx) -> "")
                .build();
        try (var pool = new HikariDataSource(config);
                Inbox inbox = Inbox.create(JdbcStore.create(pool))) {
            for (Item item : plan.backlog()) {
                Outcome<?> outcome = inbox.accept(consumer, defect.delivered(item));
                if (outcome.settlement() != Settlement.ACK) {
                    throw new IllegalStateException("The backlog could not be stored: " + outcome);
                }
            }
        }
    }
}
