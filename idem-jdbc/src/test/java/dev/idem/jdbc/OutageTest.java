package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Settlement;
import dev.idem.StoreException;
import dev.idem.Transaction;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The database is away, going away, or the wrong one: no attempt, no acknowledgement. */
class OutageTest {
    @Test
    @DisplayName("PG-19 a read-only connection is refused at the start, and at the claim with what to do")
    void aReadOnlyConnectionIsRefused() {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            db.store().register("payments");
            var replica = Db.plain(db.url("options=-c%20default_transaction_read_only=on"));
            assertThatThrownBy(() -> JdbcStore.create(replica))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("read-only")
                    .hasMessageContaining("targetServerType=primary");
            try (Inbox inbox = Inbox.create(
                    JdbcStore.builder(replica).schemaMode(SchemaMode.NOTHING).build())) {
                assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), Transaction::nothingToDo))
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("25006")
                        .hasMessageContaining("connect to the primary");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName(
            "PG-20 a handler that idles until the server ends its session is trouble of the store and leaves nothing")
    void anIdleTimeoutIsInfrastructure(boolean handlerNotices) {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(Db.plain(db.url("options=-c%20idle_in_transaction_session_timeout=200ms")))) {
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withMaxRuns(2))
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), "1");
                        long session = number(tx, "SELECT pg_backend_pid()");
                        awaitGone(db, session);
                        if (handlerNotices) {
                            Db.pay(tx.connection(), "2");
                        }
                        return null;
                    })
                    .build();
            assertInfrastructure(inbox.accept(consumer, Db.message("1")));
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"POSTGRESQL, true", "POSTGRESQL, false", "MARIADB, true", "MARIADB, false"})
    @Tag("second-pass")
    @DisplayName("MY-13 a session that is killed under its handler is run again, with one effect")
    void aKilledSessionIsRunAgain(Database database, boolean handlerNotices) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(1))) {
            Outcome<Integer> outcome = inbox.process("payments", Db.message("1"), tx -> {
                Db.pay(tx.connection(), "1");
                if (tx.run() == 1) {
                    kill(db, tx);
                    if (handlerNotices) {
                        Db.pay(tx.connection(), "2");
                    }
                }
                return tx.run();
            });
            assertThat(outcome).isEqualTo(new Outcome.Processed<>(2));
            assertThat(db.payments()).isEqualTo(1);
            assertThat(db.markers()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("PG-39 too many connections are trouble of the store")
    void tooManyConnectionsAreInfrastructure() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            db.store().register("payments");
            String role = db.role("SELECT, INSERT, UPDATE, DELETE");
            try (Inbox inbox = Inbox.create(JdbcStore.create(Db.plain(db.urlOf(role))))) {
                inbox.register(Consumer.of("payments"));
                await().until(() ->
                        db.number("SELECT count(*) FROM pg_stat_activity WHERE usename = '" + role + "'") == 0);
                db.execute("ALTER ROLE " + role + " CONNECTION LIMIT 1");
                try (Connection last = Db.plain(db.urlOf(role)).getConnection()) {
                    assertThat(last.isValid(1)).isTrue();
                    assertInfrastructure(inbox.accept(paying(), Db.message("1")));
                }
                await().until(() -> inbox.accept(paying(), Db.message("1")) instanceof Outcome.Processed);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"57P03", "53300", "53100", "08001", "25006"})
    @DisplayName("PG-39 a database that gives no connection is trouble of the store, whatever its reason")
    void noConnectionIsInfrastructure(String state) {
        try (Db db = Db.fresh(Database.H2)) {
            var down = new java.util.concurrent.atomic.AtomicBoolean();
            try (Inbox inbox = db.inbox(new UnitDataSource(() -> {
                if (down.get()) {
                    throw new SQLException("scripted", state);
                }
                return db.plain().getConnection();
            }))) {
                down.set(true);
                assertInfrastructure(inbox.accept(paying(), Db.message("1"))); // also the first message of a consumer
                down.set(false);
                assertThat(inbox.accept(paying(), Db.message("1"))).isInstanceOf(Outcome.Processed.class);
                down.set(true);
                assertInfrastructure(inbox.accept(paying(), Db.message("2")));
            }
        }
    }

    private static Consumer paying() {
        return Consumer.named("payments")
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), "1");
                    return null;
                })
                .build();
    }

    private static void assertInfrastructure(Outcome<?> outcome) {
        assertThat(outcome.settlement()).isEqualTo(Settlement.RETRY);
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.kind()).isEqualTo(Failure.INFRASTRUCTURE));
    }

    private static void kill(Db db, Transaction tx) throws SQLException {
        if (db.kind() == Database.POSTGRESQL) {
            long session = number(tx, "SELECT pg_backend_pid()");
            db.execute("SELECT pg_terminate_backend(" + session + ")");
            awaitGone(db, session);
        } else {
            long session = number(tx, "SELECT CONNECTION_ID()");
            db.execute("KILL CONNECTION " + session);
            await().until(() ->
                    db.number("SELECT count(*) FROM information_schema.processlist WHERE id = " + session) == 0);
        }
    }

    private static void awaitGone(Db db, long session) {
        await().until(() -> db.number("SELECT count(*) FROM pg_stat_activity WHERE pid = " + session) == 0);
    }

    private static long number(Transaction tx, String sql) throws SQLException {
        try (Statement statement = tx.connection().createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
