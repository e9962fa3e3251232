package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Outcome;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import java.util.List;
import javax.sql.DataSource;

/**
 * One of Idem's inboxes under the load.
 *
 * @param prefix of its tables
 * @param emptied which tables are emptied before each measurement
 */
public record IdemSetup(String name, DataSource dataSource, String prefix, List<String> emptied) {
    static final String CONSUMER = "payments";

    /** Idem with its usual tables, empty at the beginning of each measurement. */
    public static IdemSetup fresh(String name, DataSource dataSource) {
        return new IdemSetup(name, dataSource, "idem_", List.of("idem_marker", "idem_retention"));
    }

    Inbox inbox() {
        return Inbox.create(store());
    }

    private JdbcStore store() {
        return JdbcStore.builder(dataSource)
                .prefix(prefix)
                .schemaMode(SchemaMode.CREATE)
                .build();
    }

    Inbox inbox(InboxListener listener) {
        return Inbox.builder(store()).listener(listener).build();
    }

    static Consumer.Builder consumer() {
        return Consumer.named(CONSUMER);
    }

    /** Stops the measurement when a message failed that is not meant to. */
    static void check(Delivery delivery, Outcome<?> outcome) {
        if (outcome instanceof Outcome.Failed<?> failed && !delivery.failing()) {
            throw new IllegalStateException(delivery.id() + " failed", failed.cause());
        }
    }

    static void checkStored(Delivery delivery, Outcome<?> outcome) {
        if (!(outcome instanceof Outcome.Stored<?>)) {
            throw new IllegalStateException(delivery.id() + " was not stored, but is " + outcome);
        }
    }
}
