package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Handler;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Whose fault it is: what a handler does to itself counts as an attempt, what the database lacks does not. */
class HandlerBlameTest {
    private static final Duration LIMIT = Duration.ofMillis(300);
    /** Enough for a message that can never succeed to be known as such. */
    private static final int DELIVERIES = 4;

    private final AtomicInteger runs = new AtomicInteger();

    private static String sleep(Database database) {
        return switch (database) {
            case POSTGRESQL -> "SELECT pg_sleep(5)";
            case MARIADB -> "SELECT SLEEP(5) FROM payment";
            case H2 -> "SELECT count(*) FROM SYSTEM_RANGE(1, 1000000) a, SYSTEM_RANGE(1, 1000000) b";
        };
    }

    /** MariaDB answers a bare SLEEP that is interrupted without an error, but not one in a table. */
    private static void prepare(Db db) {
        db.execute("INSERT INTO payment (order_id) VALUES ('there')");
    }

    private Consumer consumer(Policy policy, Handler<Message, Object> handler) {
        return Consumer.named("payments")
                .policy(policy)
                .otherwise((Message message, dev.idem.Transaction tx) -> {
                    runs.incrementAndGet();
                    return handler.handle(message, tx);
                })
                .build();
    }

    @ParameterizedTest
    @CsvSource({
        "POSTGRESQL, DO $$ BEGIN RAISE EXCEPTION 'no credit'; END $$",
        "MARIADB, SIGNAL SQLSTATE '45000'",
        "MARIADB, SIGNAL SQLSTATE '77777'"
    })
    @DisplayName(
            "MY-10 what a trigger or a procedure signals is the handler's own failure, whatever the driver makes of it")
    void whatTheDatabaseSignals(Database database, String signal) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            Consumer consumer = consumer(Policy.defaults(), (message, tx) -> {
                if (message.id().orElseThrow().equals("good")) {
                    Db.pay(tx.connection(), "good");
                    return null;
                }
                try (Statement statement = tx.connection().createStatement()) {
                    return statement.execute(signal);
                }
            });
            List<Outcome<?>> outcomes = new ArrayList<>();
            outcomes.add(inbox.accept(consumer, Db.message("1")));
            outcomes.addAll(inbox.acceptAll(consumer, List.of(Db.message("2"), Db.message("good"))));
            assertThat(outcomes.subList(0, 2))
                    .allSatisfy(outcome -> assertThat(outcome)
                            .isInstanceOfSatisfying(
                                    Outcome.Failed.class,
                                    failed -> assertThat(failed.kind()).isEqualTo(Failure.RETRYABLE)));
            assertThat(outcomes.get(2)).isInstanceOf(Outcome.Processed.class);
            assertThat(runs).hasValue(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-02 PC-24 a handler whose time is up inside a statement has failed itself, and was called once")
    void aHandlerTimeoutInsideAStatement(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            prepare(db);
            Consumer consumer = consumer(Policy.defaults().withHandlerTimeout(LIMIT), (message, tx) -> {
                try (Statement statement = tx.connection().createStatement()) {
                    return statement.execute(sleep(database));
                }
            });
            for (boolean batch : new boolean[] {false, true}) {
                runs.set(0);
                Outcome<?> outcome = batch
                        ? inbox.acceptAll(consumer, List.of(Db.message("1"))).get(0)
                        : inbox.accept(consumer, Db.message("1"));
                assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                    assertThat(failed.cause()).isInstanceOf(HandlerTimeoutException.class);
                    assertThat(failed.kind()).isEqualTo(Failure.RETRYABLE);
                });
                assertThat(runs).hasValue(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-02 a query timeout that the handler has set is its own failure, and it was called once")
    void aQueryTimeoutOfTheHandler(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            prepare(db);
            Consumer consumer = consumer(Policy.defaults(), (message, tx) -> {
                try (Statement statement = tx.connection().createStatement()) {
                    statement.setQueryTimeout(1);
                    return statement.execute(sleep(database));
                }
            });
            assertKind(inbox.accept(consumer, Db.message("1")), Failure.RETRYABLE);
            assertThat(runs).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-02 the same in a batch: it was called once, and its neighbours are processed")
    void aQueryTimeoutInsideABatch(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            prepare(db);
            Consumer consumer = consumer(Policy.defaults(), (message, tx) -> {
                String id = message.id().orElseThrow();
                Db.pay(tx.connection(), id);
                if (id.equals("slow")) {
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.setQueryTimeout(1);
                        return statement.execute(sleep(database));
                    }
                }
                return null;
            });
            List<Outcome<?>> outcomes =
                    inbox.acceptAll(consumer, List.of(Db.message("a"), Db.message("slow"), Db.message("b")));
            assertThat(outcomes.get(0)).isInstanceOf(Outcome.Processed.class);
            assertKind(outcomes.get(1), Failure.RETRYABLE);
            assertThat(outcomes.get(2)).isInstanceOf(Outcome.Processed.class);
            assertThat(runs).hasValue(3);
            assertThat(db.payments("a") + db.payments("b")).isEqualTo(2);
            assertThat(db.payments("slow")).isZero();
            assertThat(db.markers()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "POSTGRESQL, 53100, 0",
        "POSTGRESQL, 53200, 0",
        "MARIADB, HY000, 1021",
        "MARIADB, HY000, 1114",
        "MARIADB, HY001, 1041"
    })
    @DisplayName("RO-02 a full disk or exhausted memory inside a handler costs no attempt, of one message or of many")
    void aFullDiskCostsNoAttempt(Database database, String state, int code) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            String raise = database == Database.POSTGRESQL
                    ? "DO $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = '" + state + "'; END $$"
                    : "SIGNAL SQLSTATE '" + state + "' SET MYSQL_ERRNO = " + code;
            Consumer consumer = consumer(Policy.defaults(), (message, tx) -> {
                Db.pay(tx.connection(), message.id().orElseThrow());
                if (message.id().orElseThrow().equals("full")) {
                    tx.connection().createStatement().execute(raise);
                }
                return null;
            });
            assertKind(inbox.accept(consumer, Db.message("full")), Failure.INFRASTRUCTURE);
            List<Outcome<?>> outcomes =
                    inbox.acceptAll(consumer, List.of(Db.message("a"), Db.message("full"), Db.message("b")));
            assertThat(outcomes.get(0)).isInstanceOf(Outcome.Processed.class);
            assertKind(outcomes.get(1), Failure.INFRASTRUCTURE);
            assertThat(outcomes.get(2)).isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("PG-20 a handler that always outlasts the server's patience with idle transactions fails by itself")
    void aHandlerThatIdlesTooLong(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(3, impatient(database)))) {
            Consumer consumer = consumer(Policy.defaults(), (message, tx) -> {
                Connection connection = tx.connection();
                Db.pay(connection, message.id().orElseThrow());
                if (message.id().orElseThrow().equals("idle")) {
                    awaitEnd(db, session(connection, database));
                    Db.pay(connection, "after");
                }
                return null;
            });
            assertBlamed(inbox, consumer, Db.message("idle"));
            assertThat(db.payments()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("PG-20 RO-01 also when it idles at its end, in a batch: it is found, and its neighbours are processed")
    void aHandlerThatIdlesAtItsEnd(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(3, impatient(database)))) {
            Policy policy = Policy.defaults().withMaxRuns(2);
            Consumer consumer = consumer(policy, (message, tx) -> {
                Connection connection = tx.connection();
                Db.pay(connection, message.id().orElseThrow());
                if (message.id().orElseThrow().equals("idle")) {
                    awaitEnd(db, session(connection, database));
                }
                return null;
            });
            List<Message> messages = List.of(Db.message("a"), Db.message("idle"), Db.message("b"), Db.message("c"));
            List<String> kinds = new ArrayList<>();
            for (int i = 0; i < DELIVERIES; i++) {
                List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages);
                kinds.add(kind(outcomes.get(1)));
                outcomes.stream()
                        .filter(outcome -> outcome != outcomes.get(1))
                        .forEach(outcome ->
                                assertThat(outcome).isInstanceOfAny(Outcome.Processed.class, Outcome.Duplicate.class));
            }
            assertThat(kinds).contains("RETRYABLE");
            assertThat(db.payments()).isEqualTo(3);
        }
    }

    private static String impatient(Database database) {
        return database == Database.POSTGRESQL
                ? "options=-c%20idle_in_transaction_session_timeout=200"
                : "sessionVariables=idle_transaction_timeout=1";
    }

    private static long session(Connection connection, Database database) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        database == Database.POSTGRESQL ? "SELECT pg_backend_pid()" : "SELECT CONNECTION_ID()")) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void awaitEnd(Db db, long session) {
        String sql = db.kind() == Database.POSTGRESQL
                ? "SELECT count(*) FROM pg_stat_activity WHERE pid = " + session
                : "SELECT count(*) FROM information_schema.processlist WHERE id = " + session;
        await().atMost(Duration.ofSeconds(20)).until(() -> db.number(sql) == 0);
    }

    private static void assertBlamed(Inbox inbox, Consumer consumer, Message message) {
        List<String> kinds = new ArrayList<>();
        for (int i = 0; i < DELIVERIES; i++) {
            kinds.add(kind(inbox.accept(consumer, message)));
        }
        assertThat(kinds).contains("RETRYABLE").doesNotContain("Processed");
        assertThat(kinds.get(DELIVERIES - 1)).isEqualTo("RETRYABLE");
    }

    private static String kind(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed
                ? failed.kind().name()
                : outcome.getClass().getSimpleName();
    }

    private static void assertKind(Outcome<?> outcome, Failure kind) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.kind()).isEqualTo(kind));
    }
}
