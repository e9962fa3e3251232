package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.QueuePolicy;
import dev.idem.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Workers whose pool has fewer connections than they could use. */
class PoolSizeTest {
    private static final int MESSAGES = 60;
    private static final Duration LEASE = Duration.ofSeconds(20);

    @ParameterizedTest
    @CsvSource({"POSTGRESQL, true", "POSTGRESQL, false", "MARIADB, true", "MARIADB, false", "H2, true", "H2, false"})
    @DisplayName("four workers and two connections handle everything, for nobody waits for one while holding another")
    void twoConnectionsAreEnough(Database database, boolean leased) {
        Consumer consumer = InboxBench.consumer(four(leased));
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            inbox.acceptAll(consumer, messages(0));
            inbox.start(consumer);
            await().atMost(Duration.ofSeconds(25)).until(() -> db.payments() == MESSAGES);
            inbox.acceptAll(consumer, messages(MESSAGES));
            await().atMost(Duration.ofSeconds(25)).until(() -> db.payments() == 2 * MESSAGES);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("with one connection workers do not start, and the error names the number needed")
    void oneConnectionIsRefused(Database database) {
        Consumer consumer = InboxBench.consumer(four(false));
        try (Db db = Db.fresh(database);
                HikariDataSource pool = db.pool(1)) {
            pool.setConnectionTimeout(1_000);
            try (Inbox inbox = db.inbox(pool)) {
                inbox.acceptAll(consumer, messages(0));
                assertThatThrownBy(() -> inbox.start(consumer))
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("at least 6");
                inbox.accept(consumer, Db.message("later")); // the connection was given back
                assertThat(db.number("SELECT count(*) FROM idem_queue")).isEqualTo(MESSAGES + 1);
            }
        }
    }

    private static QueuePolicy four(boolean leased) {
        QueuePolicy policy = leased ? QueuePolicy.leased(LEASE) : QueuePolicy.inTransaction();
        return policy.withWorkers(4).withBatch(5).withPoll(Duration.ofMillis(100));
    }

    private static List<Message> messages(int from) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            messages.add(Db.message("m" + (from + i)));
        }
        return messages;
    }
}
