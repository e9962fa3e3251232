package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Transaction;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two versions of a service on one queue, of which the old one does not know every type. */
class RollingDeployTest {
    private static final Message NEW = Db.message("1").toBuilder().type("new").build();

    private static Consumer consumer(QueuePolicy way, Duration left, String... types) {
        Consumer.Builder builder = Consumer.named("payments")
                .queued(way.withWorkers(1).withPoll(Duration.ofMillis(20)).withUnknownTypesLeft(left));
        for (String type : types) {
            builder.on(type, message -> message, (Message message, Transaction tx) -> {
                Db.pay(tx.connection(), message.id().orElseThrow());
                return null;
            });
        }
        return builder.build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("an old instance stores what it does not know, and leaves it to a new one that does")
    void leftToTheNewOne(Database database) {
        for (QueuePolicy way : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofMinutes(1)))) {
            try (Db db = Db.fresh(database)) {
                DataSource pool = db.pool(20);
                try (Inbox oldInbox = db.inbox(pool);
                        Inbox newInbox = db.inbox(pool)) {
                    // Both may take it, after ever longer pauses: so the new one is given better chances than the old
                    // one.
                    Consumer old = consumer(way.withWorkers(1), Duration.ofHours(1), "known");
                    assertThat(oldInbox.accept(old, NEW)).isInstanceOf(Outcome.Stored.class);
                    oldInbox.start(old);
                    await().atMost(Duration.ofSeconds(20))
                            .until(() -> db.number("SELECT count(*) FROM idem_queue WHERE reason = 'UNKNOWN_TYPE'"
                                            + " AND status = 0 AND error IS NOT NULL AND fence > 2")
                                    == 1);
                    newInbox.start(consumer(way.withWorkers(10), Duration.ofHours(1), "known", "new"));
                    await().atMost(Duration.ofSeconds(60)).until(() -> db.payments() == 1);
                    assertThat(oldInbox.queueStats("payments").parked()).isZero();
                    assertThat(db.number("SELECT count(*) FROM idem_attempt")).isZero();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("what nobody has known for the time that was given is parked")
    void parkedInTheEnd(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(10))) {
            Consumer old = consumer(QueuePolicy.inTransaction(), Duration.ofSeconds(1), "known");
            inbox.accept(old, NEW);
            inbox.start(old);
            await().atMost(Duration.ofSeconds(20))
                    .until(() ->
                            db.number("SELECT count(*) FROM idem_queue WHERE reason = 'UNKNOWN_TYPE' AND status = 4")
                                    == 1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "LS-09 how long a type was left to others is told by the database's clock, however wrong the instance's is")
    void byTheClockOfTheDatabase(Database database) {
        for (QueuePolicy way : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofMinutes(1)))) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = db.inbox(aDayAhead(db))) {
                Consumer old = consumer(way, Duration.ofSeconds(1), "known");
                inbox.accept(old, NEW);
                inbox.start(old);
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> db.number(
                                        "SELECT count(*) FROM idem_queue WHERE reason = 'UNKNOWN_TYPE' AND status = 4")
                                == 1);
                assertThat(db.number("SELECT stored_at FROM idem_queue") / 1_000)
                        .as("the clocks differ")
                        .isGreaterThan(System.currentTimeMillis()
                                + Duration.ofHours(20).toMillis());
            }
        }
    }

    private static DataSource aDayAhead(Db db) {
        String now = QueueSql.of(db.kind()).now();
        return DefectSql.edited(db.pool(10), true, now, "(" + now + " + 86400000000)");
    }
}
