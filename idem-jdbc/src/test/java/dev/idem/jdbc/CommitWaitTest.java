package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.PostgresServer;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A server whose synchronous standby is away: a COMMIT waits until somebody ends the wait. */
class CommitWaitTest {
    private static final String WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    private static final Consumer PAYMENTS = Consumer.named("payments")
            .policy(Policy.defaults().withBusyWait(Duration.ofMillis(50)))
            .build();
    private static PostgresServer server;
    private static Db db;

    @BeforeEach
    void start() {
        if (server == null) {
            server = PostgresServer.start(Map.of("synchronous_standby_names", "nobody"));
            db = Db.at(Database.POSTGRESQL, server.jdbcUrl("postgres") + "&options=-c%20synchronous_commit=local");
            db.store().register("payments");
        }
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    @DisplayName("PG-16 a commit that was cancelled in its wait for the standby is done here, and an alarm says so")
    void aCancelledWaitIsAnAlarm() throws Exception {
        try (CapturedLog log = CapturedLog.of(JdbcStore.class);
                Inbox inbox = inbox("")) {
            Future<Outcome<Object>> outcome = Together.start(() -> pay(inbox, "16"));
            await().until(() -> db.number("SELECT count(*) " + WAITING) == 1);
            db.execute("SELECT pg_cancel_backend(pid) " + WAITING);
            assertThat(Together.get(outcome)).isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments("16")).isEqualTo(1);
            assertThat(log.warnings())
                    .anySatisfy(line -> assertThat(line).contains("payments/16").contains("standby"));
        }
    }

    @Test
    @DisplayName(
            "PG-17 a commit whose answer does not come is unknown: claimed again it is busy, and later a duplicate")
    void anUnansweredCommitIsClaimedAgain() throws Exception {
        try (Inbox inbox = inbox("&socketTimeout=1&options=-c%20statement_timeout=300")) {
            assertThat(pay(inbox, "17")).isInstanceOf(Outcome.Busy.class);
            assertThat(db.number("SELECT count(*) " + WAITING))
                    .as("the commit still waits")
                    .isEqualTo(1);
            assertThat(db.payments("17")).as("and is not visible").isZero();
            assertThat(pay(inbox, "17")).isInstanceOf(Outcome.Busy.class);
            db.execute("SELECT pg_cancel_backend(pid) " + WAITING);
            await().until(() -> db.payments("17") == 1);
            assertThat(pay(inbox, "17")).isInstanceOf(Outcome.Duplicate.class);
            assertThat(db.payments("17")).isEqualTo(1);
        }
    }

    /** Registers without waiting for the standby; whatever comes after that waits. */
    private static Inbox inbox(String options) {
        AtomicReference<String> url = new AtomicReference<>(db.url());
        Inbox inbox = Inbox.create(JdbcStore.builder(new UnitDataSource(() -> DriverManager.getConnection(url.get())))
                .schemaMode(SchemaMode.NOTHING)
                .build());
        inbox.register(PAYMENTS);
        url.set(server.jdbcUrl("postgres") + options);
        return inbox;
    }

    private static Outcome<Object> pay(Inbox inbox, String id) throws Exception {
        return inbox.process(PAYMENTS, Db.message(id), tx -> {
            Db.pay(tx.connection(), id);
            return null;
        });
    }
}
