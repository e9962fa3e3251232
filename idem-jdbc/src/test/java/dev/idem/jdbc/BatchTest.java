package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Rejection;
import dev.idem.ResultCodec;
import dev.idem.TerminalException;
import dev.idem.jdbc.schema.Database;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many messages in one transaction: verdicts of their own, and nobody suffers for another. */
@Tag("second-pass")
class BatchTest {
    private static final Handler<Message, Object> PAY = (message, tx) -> {
        Db.pay(tx.connection(), id(message));
        return "paid";
    };

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-13 a batch is applied once, repeated deliveries and repeats inside it are duplicates")
    void appliesOnce(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = each(PAY);
            List<Message> messages = messages(50);
            messages.addAll(messages(10)); // repeats of the first ten
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages);
            assertThat(outcomes.subList(0, 50)).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(outcomes.subList(50, 60)).allMatch(o -> o instanceof Outcome.Duplicate);
            assertThat(inbox.acceptAll(consumer, messages)).allMatch(o -> o instanceof Outcome.Duplicate);
            assertThat(db.payments()).isEqualTo(50);
            assertThat(db.markers()).isEqualTo(50);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("after a list of duplicates the markers are read first, and every message is judged as before")
    void judgesAlikeInAReplay(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = each(PAY);
            inbox.acceptAll(consumer, messages(20));
            inbox.acceptAll(consumer, messages(20));
            List<Message> mixed = messages(30); // ten of them new
            mixed.set(3, Message.of("m3", new byte[] {1}));
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, mixed);
            assertThat(outcomes.remove(3)).isInstanceOf(Outcome.Conflict.class);
            assertThat(outcomes.subList(0, 19)).allMatch(o -> o instanceof Outcome.Duplicate);
            assertThat(outcomes.subList(19, 29)).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(inbox.acceptAll(consumer, List.of(message(99)))).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(db.payments()).isEqualTo(31);
            assertThat(db.markers()).isEqualTo(31);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-10 RO-01 only the guilty messages of a batch fail, and leave neither effect nor marker")
    void onlyTheGuiltyFail(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = each((message, tx) -> {
                Db.pay(tx.connection(), id(message));
                if (number(message) % 7 == 3) {
                    throw new IllegalStateException("no");
                }
                if (number(message) % 7 == 5) {
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute("INSERT INTO no_such_table VALUES (1)");
                    }
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(40));
            for (int i = 0; i < 40; i++) {
                boolean guilty = i % 7 == 3 || i % 7 == 5;
                assertThat(outcomes.get(i))
                        .as("message %s", i)
                        .isInstanceOf(guilty ? Outcome.Failed.class : Outcome.Processed.class);
                assertThat(db.payments("m" + i)).isEqualTo(guilty ? 0 : 1);
            }
            assertThat(db.markers()).isEqualTo(db.payments());
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-14 conflicts, missing keys, unknown types and undecodable messages do not hold up the rest")
    void verdictsOfTheirOwn(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = Consumer.named("batch")
                    .on("pay", message -> message, PAY)
                    .on(
                            "odd",
                            message -> {
                                throw new IllegalArgumentException("unreadable");
                            },
                            (event, tx) -> null)
                    .build();
            inbox.acceptAll(consumer, List.of(typed("m1", "pay", "one")));
            List<Outcome<?>> outcomes = inbox.acceptAll(
                    consumer,
                    List.of(
                            typed("m0", "pay", "zero"),
                            typed("m1", "pay", "one, but more"),
                            Message.builder().type("pay").build(),
                            typed("m2", "refund", "two"),
                            typed("m3", "odd", "three"),
                            typed("m4", "pay", "four"),
                            typed("m4", "pay", "four, but more")));
            assertThat(outcomes.get(0)).isInstanceOf(Outcome.Processed.class);
            assertThat(outcomes.get(1)).isInstanceOf(Outcome.Conflict.class);
            assertThat(outcomes.get(2)).isInstanceOf(Outcome.Rejected.class);
            assertThat(((Outcome.Rejected<?>) outcomes.get(3)).reason()).isEqualTo(Rejection.UNKNOWN_TYPE);
            assertThat(((Outcome.Rejected<?>) outcomes.get(4)).reason()).isEqualTo(Rejection.UNDECODABLE);
            assertThat(outcomes.get(5)).isInstanceOf(Outcome.Processed.class);
            assertThat(outcomes.get(6)).isInstanceOf(Outcome.Conflict.class);
            assertThat(db.markers()).isEqualTo(3);
            assertThat(db.payments()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("behind a message that must come again, others of its ordering key are held")
    void keepsOrder(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = each((message, tx) -> {
                Db.pay(tx.connection(), id(message));
                if (id(message).equals("a1")) {
                    throw new IllegalStateException("later");
                }
                if (id(message).equals("b1")) {
                    throw new TerminalException("never", null);
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(
                    consumer,
                    List.of(keyed("a0", "a"), keyed("a1", "a"), keyed("b1", "b"), keyed("a2", "a"), keyed("b2", "b")));
            assertThat(outcomes.get(0)).isInstanceOf(Outcome.Processed.class);
            assertThat(((Outcome.Failed<?>) outcomes.get(1)).kind()).isEqualTo(Failure.RETRYABLE);
            assertThat(((Outcome.Failed<?>) outcomes.get(2)).kind()).isEqualTo(Failure.TERMINAL);
            assertThat(outcomes.get(3)).isInstanceOf(Outcome.Held.class);
            assertThat(outcomes.get(4)).isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments()).isEqualTo(2);
            assertThat(db.markers()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-03 a twin that runs elsewhere makes its own message busy and no other")
    void busyAlone(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox();
                Inbox elsewhere = db.inbox()) {
            Consumer consumer = each(PAY);
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch resume = new CountDownLatch(1);
            Future<Outcome<?>> twin = Together.start(() -> elsewhere.accept(
                    each((message, tx) -> {
                        Db.pay(tx.connection(), id(message));
                        running.countDown();
                        Together.await(resume);
                        return null;
                    }),
                    message(17)));
            Together.await(running);
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(40));
            for (int i = 0; i < 40; i++) {
                assertThat(outcomes.get(i)).isInstanceOf(i == 17 ? Outcome.Busy.class : Outcome.Processed.class);
            }
            resume.countDown();
            assertThat(Together.get(twin)).isInstanceOf(Outcome.Processed.class);
            assertThat(inbox.acceptAll(consumer, messages(40))).allMatch(o -> o instanceof Outcome.Duplicate);
            assertThat(db.payments()).isEqualTo(40);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void batchHandlerIsolatesTheGuilty(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            AtomicInteger calls = new AtomicInteger();
            Consumer consumer = Consumer.named("batch")
                    .otherwiseAll((events, tx) -> {
                        calls.incrementAndGet();
                        try (PreparedStatement insert =
                                tx.connection().prepareStatement("INSERT INTO payment (order_id) VALUES (?)")) {
                            for (int i = 0; i < events.size(); i++) {
                                if (number(events.get(i)) == 20) {
                                    tx.fail(i, new TerminalException("not this one", null));
                                    continue;
                                }
                                insert.setString(1, number(events.get(i)) == 13 ? "x".repeat(200) : id(events.get(i)));
                                insert.addBatch();
                            }
                            insert.executeBatch();
                        }
                    })
                    .build();
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(40));
            for (int i = 0; i < 40; i++) {
                assertThat(outcomes.get(i))
                        .as("message %s", i)
                        .isInstanceOf(i == 13 || i == 20 ? Outcome.Failed.class : Outcome.Processed.class);
            }
            assertThat(db.payments()).isEqualTo(38);
            assertThat(db.markers()).isEqualTo(38);
            assertThat(calls.get()).isLessThan(15);
            assertThat(inbox.accept(consumer, message(1))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(inbox.accept(consumer, message(41))).isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void deferredStatementsGoTogetherAndFailAlone(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            db.execute("CREATE TABLE seen (order_id VARCHAR(100) PRIMARY KEY, state VARCHAR(10))");
            Consumer consumer = each((message, tx) -> {
                String order = number(message) == 13 ? "x".repeat(200) : id(message);
                tx.defer("INSERT INTO seen (order_id, state) VALUES (?, ?)", id(message), null);
                tx.defer("INSERT INTO payment (order_id) VALUES (?)", order);
                tx.defer("UPDATE seen SET state = ? WHERE order_id = ?", "paid", id(message));
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(40));
            for (int i = 0; i < 40; i++) {
                assertThat(outcomes.get(i))
                        .as("message %s", i)
                        .isInstanceOf(i == 13 ? Outcome.Failed.class : Outcome.Processed.class);
            }
            assertThat(db.payments()).isEqualTo(39);
            assertThat(db.number("SELECT count(*) FROM seen WHERE state = 'paid'"))
                    .isEqualTo(39);
            assertThat(db.markers()).isEqualTo(39);
            assertThat(inbox.accept(consumer, message(50))).isInstanceOf(Outcome.Processed.class);
            assertThat(inbox.accept(consumer, message(13))).isInstanceOf(Outcome.Failed.class);
            assertThat(db.payments()).isEqualTo(40);
        }
    }

    /** A handler that both writes and defers cannot be undone alone once others have run: they begin anew. */
    @ParameterizedTest
    @EnumSource(Database.class)
    void mixedHandlersBeginAnewWithoutTheGuilty(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = each((message, tx) -> {
                Db.pay(tx.connection(), id(message));
                tx.defer("INSERT INTO payment (order_id) VALUES (?)", number(message) == 3 ? "x".repeat(200) : "later");
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(10));
            assertThat(outcomes.stream().filter(o -> o instanceof Outcome.Processed))
                    .hasSize(9);
            assertThat(outcomes.get(3)).isInstanceOf(Outcome.Failed.class);
            assertThat(db.payments("later")).isEqualTo(9);
            assertThat(db.payments()).isEqualTo(18);
            assertThat(db.payments("m3")).isZero();
            assertThat(db.markers()).isEqualTo(9);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-07 a handler that swallows an SQL error fails alone, or is applied where the database allows it")
    void swallowedErrorStaysAlone(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = each((message, tx) -> {
                Db.pay(tx.connection(), id(message));
                if (number(message) == 4) {
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute("INSERT INTO no_such_table VALUES (1)");
                    } catch (SQLException swallowed) {
                        assertThat(swallowed.getSQLState()).isNotNull();
                    }
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(10));
            boolean aborts = database == Database.POSTGRESQL;
            for (int i = 0; i < 10; i++) {
                assertThat(outcomes.get(i))
                        .as("message %s", i)
                        .isInstanceOf(i == 4 && aborts ? Outcome.Failed.class : Outcome.Processed.class);
            }
            assertThat(db.payments()).isEqualTo(aborts ? 9 : 10);
            assertThat(db.markers()).isEqualTo(aborts ? 9 : 10);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void handlersMayUseSavepointsPreparedStatementsInAnyOrderAndGeneratedKeys(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = each((message, tx) -> {
                Connection connection = tx.connection();
                try (PreparedStatement second =
                                connection.prepareStatement("UPDATE payment SET run = ? WHERE order_id = ?");
                        PreparedStatement first =
                                connection.prepareStatement("INSERT INTO payment (order_id) VALUES (?)");
                        PreparedStatement query =
                                connection.prepareStatement("SELECT count(*) FROM payment WHERE order_id = ?")) {
                    second.setInt(1, 7);
                    second.setString(2, id(message));
                    first.setString(1, id(message));
                    assertThat(first.executeUpdate()).isEqualTo(1);
                    Savepoint savepoint = connection.setSavepoint();
                    first.setString(1, "undone");
                    assertThat(first.executeUpdate()).isEqualTo(1);
                    connection.rollback(savepoint);
                    assertThat(second.executeUpdate()).isEqualTo(1);
                    query.setString(1, id(message));
                    try (var rows = query.executeQuery()) {
                        assertThat(rows.next()).isTrue();
                        assertThat(rows.getInt(1)).isEqualTo(1);
                    }
                }
                if (number(message) % 3 == 0) {
                    throw new IllegalStateException("no");
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(12));
            assertThat(outcomes.stream().filter(o -> o instanceof Outcome.Processed))
                    .hasSize(8);
            assertThat(db.payments()).isEqualTo(8);
            assertThat(db.number("SELECT count(*) FROM payment WHERE run = 7")).isEqualTo(8);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void firstStatementMayBeAQueryABatchOrText(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = each((message, tx) -> {
                switch (number(message) % 3) {
                    case 0 -> {
                        try (PreparedStatement query =
                                        tx.connection().prepareStatement("SELECT count(*) FROM payment");
                                var rows = query.executeQuery()) {
                            rows.next();
                        }
                    }
                    case 1 -> {
                        try (PreparedStatement insert =
                                tx.connection().prepareStatement("INSERT INTO payment (order_id) VALUES (?)")) {
                            insert.setString(1, "other");
                            insert.addBatch();
                            insert.executeBatch();
                        }
                    }
                    default -> {
                        try (Statement insert = tx.connection().createStatement()) {
                            insert.execute("INSERT INTO payment (order_id) VALUES ('other')");
                        }
                    }
                }
                Db.pay(tx.connection(), id(message));
                if (number(message) % 4 == 0) {
                    throw new IllegalStateException("no");
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(24));
            assertThat(outcomes.stream().filter(o -> o instanceof Outcome.Processed))
                    .hasSize(18);
            assertThat(db.payments("other")).isEqualTo(12);
            assertThat(db.payments()).isEqualTo(30);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void timeoutCostsOnlyTheLateMessage(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = Consumer.named("batch")
                    .policy(Policy.defaults().withHandlerTimeout(Duration.ofMillis(500)))
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), id(message));
                        if (number(message) == 5) {
                            Thread.sleep(20_000);
                        }
                        return null;
                    })
                    .build();
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(10));
            for (int i = 0; i < 10; i++) {
                assertThat(outcomes.get(i)).isInstanceOf(i == 5 ? Outcome.Failed.class : Outcome.Processed.class);
            }
            assertThat(db.payments()).isEqualTo(9);
            assertThat(db.markers()).isEqualTo(9);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void resultsAreStoredAndReturned(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = Consumer.named("batch")
                    .on("pay", message -> message, (message, tx) -> "receipt " + id(message), ResultCodec.text())
                    .policy(Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.ALLOW))
                    .build();
            List<Message> messages = List.of(typed("m0", "pay", ""), typed("m1", "pay", ""), typed("m1", "pay", ""));
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages);
            assertThat(outcomes.get(0)).isEqualTo(new Outcome.Processed<>("receipt m0"));
            assertThat(((Outcome.Duplicate<?>) outcomes.get(2)).storedResult()).isEqualTo(Optional.of("receipt m1"));
            outcomes = inbox.acceptAll(consumer, messages);
            assertThat(((Outcome.Duplicate<?>) outcomes.get(0)).storedResult()).isEqualTo(Optional.of("receipt m0"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a handler that commits behind our back fails alone; messages behind it are not taken for done")
    void hiddenCommitDoesNotLoseTheOthers(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            String commit = switch (database) {
                case POSTGRESQL, H2 -> "SELECT 1; COMMIT";
                case MARIADB -> {
                    db.execute("CREATE PROCEDURE sneaky() BEGIN COMMIT; END");
                    yield "CALL sneaky()";
                }
            };
            AtomicInteger sneaked = new AtomicInteger();
            Consumer consumer = each((message, tx) -> {
                Db.pay(tx.connection(), id(message));
                if (number(message) == 2) {
                    throw new IllegalStateException("no");
                }
                if (number(message) == 4 && sneaked.incrementAndGet() == 1) {
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute(commit);
                    }
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(10));
            for (int i = 0; i < 10; i++) {
                assertThat(outcomes.get(i))
                        .as("message %s", i)
                        .isInstanceOf(i == 2 || i == 4 ? Outcome.Failed.class : Outcome.Processed.class);
                assertThat(db.payments("m" + i)).as("payments of %s", i).isEqualTo(i == 2 ? 0 : 1);
            }
            assertThat(((Outcome.Failed<?>) outcomes.get(4)).kind()).isEqualTo(Failure.TERMINAL);
            assertThat(db.markers()).isEqualTo(9);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void limitsCutTheListIntoTransactions(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Set<String> transactions = new TreeSet<>();
            String current = switch (database) {
                case POSTGRESQL -> "SELECT CAST(pg_current_xact_id() AS text)";
                case MARIADB -> "SELECT CONNECTION_ID()"; // no pool: each transaction has its own
                case H2 -> "SELECT TRANSACTION_ID()";
            };
            Consumer consumer = Consumer.named("batch")
                    .policy(Policy.defaults().withBatchLimits(4, 1_000))
                    .otherwise((message, tx) -> {
                        try (Statement statement = tx.connection().createStatement();
                                var rows = statement.executeQuery(current)) {
                            rows.next();
                            transactions.add(rows.getString(1));
                        }
                        return null;
                    })
                    .build();
            assertThat(inbox.acceptAll(consumer, messages(10))).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(transactions).hasSizeBetween(3, 10);
            Message large = Message.of("large", new byte[2_000]);
            assertThat(inbox.acceptAll(consumer, List.of(large, message(77))))
                    .allMatch(o -> o instanceof Outcome.Processed);
        }
    }

    @Test
    @DisplayName("PG-11 a transaction has at most 60 savepoints; handlers that only defer share one")
    void savepointsAreCapped() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox()) {
            Map<String, Integer> messagesOf = new TreeMap<>();
            Consumer writing = Consumer.named("writing")
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), id(message));
                        try (Statement statement = tx.connection().createStatement();
                                var rows = statement.executeQuery("SELECT pg_current_xact_id()")) {
                            rows.next();
                            messagesOf.merge(rows.getString(1), 1, Integer::sum);
                        }
                        return null;
                    })
                    .build();
            Consumer deferring = Consumer.named("deferring")
                    .otherwise((message, tx) -> {
                        tx.defer(
                                "INSERT INTO payment (order_id, run) VALUES (?, CAST(txid_current() % 1000000 AS int))",
                                "d");
                        return null;
                    })
                    .build();
            assertThat(inbox.acceptAll(writing, messages(200))).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(inbox.acceptAll(deferring, messages(200))).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(messagesOf.values()).containsExactlyInAnyOrder(60, 60, 60, 20);
            assertThat(db.payments()).isEqualTo(400);
            assertThat(db.markers()).isEqualTo(400);
            assertThat(db.number("SELECT count(DISTINCT run) FROM payment WHERE order_id = 'd'"))
                    .isEqualTo(1);
        }
    }

    static Consumer each(Handler<Message, ?> handler) {
        return Consumer.named("batch").otherwise(handler).build();
    }

    static List<Message> messages(int count) {
        return new ArrayList<>(
                IntStream.range(0, count).mapToObj(BatchTest::message).toList());
    }

    static Message message(int number) {
        return Message.of("m" + number, ("payload " + number).getBytes(StandardCharsets.UTF_8));
    }

    static Message keyed(String id, String orderingKey) {
        return Message.of(id, new byte[0]).toBuilder().orderingKey(orderingKey).build();
    }

    static Message typed(String id, String type, String payload) {
        return Message.of(id, payload.getBytes(StandardCharsets.UTF_8)).toBuilder()
                .type(type)
                .build();
    }

    static String id(Message message) {
        return message.id().orElseThrow();
    }

    static int number(Message message) {
        return Integer.parseInt(id(message).substring(1));
    }
}
