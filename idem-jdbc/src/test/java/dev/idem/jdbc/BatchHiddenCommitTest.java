package dev.idem.jdbc;

import static dev.idem.jdbc.BatchTest.each;
import static dev.idem.jdbc.BatchTest.id;
import static dev.idem.jdbc.BatchTest.messages;
import static dev.idem.jdbc.BatchTest.number;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.Settlement;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A handler of a batch ends the transaction, and then something goes wrong: nobody else may pay for it. */
@Tag("second-pass")
class BatchHiddenCommitTest {
    private static final String INSERT = "INSERT INTO payment (order_id) VALUES (?)";

    /** Pays, commits and fails, in one statement. */
    private static String commitsAndFails(Db db) {
        return switch (db.kind()) {
            case POSTGRESQL, H2 -> INSERT + "; COMMIT; INSERT INTO payment (order_id) VALUES (NULL)";
            case MARIADB -> {
                db.execute("CREATE PROCEDURE sneaky(x VARCHAR(100)) BEGIN INSERT INTO payment (order_id) VALUES (x);"
                        + " COMMIT; SIGNAL SQLSTATE '45000'; END");
                yield "CALL sneaky(?)";
            }
        };
    }

    /** Only commits. */
    private static String commits(Db db) {
        if (db.kind() == Database.MARIADB) {
            db.execute("CREATE PROCEDURE commits() BEGIN COMMIT; END");
            return "CALL commits()";
        }
        return "SELECT 1; COMMIT";
    }

    private static void send(Connection connection, String sql, String id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, id);
            statement.execute();
        }
    }

    /** The second fails before, the fourth commits and fails with its first statement. */
    private static Handler<Message, ?> fourthCommits(String sql) {
        return (message, tx) -> {
            if (number(message) == 1) {
                Db.pay(tx.connection(), id(message));
                throw new IllegalStateException("no");
            }
            if (number(message) == 3) {
                send(tx.connection(), sql, id(message));
            }
            Db.pay(tx.connection(), id(message));
            return null;
        };
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-09 PC-10 a first statement that commits and fails is found out, and the others are applied once")
    void firstStatementCommitsAndFails(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            List<Outcome<?>> outcomes = inbox.acceptAll(each(fourthCommits(commitsAndFails(db))), messages(8));
            for (int i = 0; i < 8; i++) {
                boolean fails = i == 1 || i == 3;
                assertThat(outcomes.get(i)).as("m%s", i).matches(o -> fails == o instanceof Outcome.Failed);
                assertThat(db.payments("m" + i)).as("m%s", i).isEqualTo(i == 1 ? 0 : 1);
            }
            assertHiddenCommit(outcomes.get(3));
            assertThat(db.markers()).as("none of one that did not run").isEqualTo(7);
            assertThat(inbox.acceptAll(each(BatchHiddenCommitTest::pay), messages(8))
                            .get(1))
                    .as("what failed before comes again")
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments()).isEqualTo(8);
        }
    }

    private static Object pay(Message message, Transaction tx) throws SQLException {
        Db.pay(tx.connection(), id(message));
        return null;
    }

    private static void assertHiddenCommit(Outcome<?> outcome) {
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
            assertThat(failed.kind()).isEqualTo(Failure.TERMINAL);
            assertThat(failed.cause())
                    .isInstanceOfSatisfying(
                            BrokenTransactionException.class,
                            broken -> assertThat(broken.leftBehind()).isTrue());
        });
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-09 PC-10 the same of stored messages: one is parked, the others are applied once")
    void firstStatementOfAStoredMessageCommitsAndFails(Database database) throws Exception {
        for (QueuePolicy policy : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofSeconds(30)))) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = db.inbox(db.pool(6))) {
                Handler<Message, ?> handler = fourthCommits(commitsAndFails(db));
                Consumer consumer = Consumer.named("payments")
                        .queued(policy.withRetry(
                                        RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(2))
                                .withPayloadWindow(Duration.ofDays(1))
                                .withWorkers(1))
                        .otherwise(handler)
                        .build();
                inbox.acceptAll(consumer, messages(8));
                inbox.start(consumer);
                await().atMost(Duration.ofSeconds(20)) // the one that committed, and the one that always fails
                        .until(() -> inbox.queueStats("payments").parked() == 2
                                && inbox.queueStats("payments").pending() == 0
                                && inbox.queueStats("payments").inProgress() == 0);
                for (int i = 0; i < 8; i++) {
                    assertThat(db.payments("m" + i)).as("%s m%s", policy, i).isEqualTo(i == 1 ? 0 : 1);
                }
                assertThat(db.number("SELECT count(*) FROM idem_archive"))
                        .as("kept of those that are done")
                        .isEqualTo(6);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-10 a commit is blamed on the message before, when the next one's first statement is never sent")
    void theNextStatementIsNeverSent(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            String commits = commits(db);
            Consumer consumer = each((message, tx) -> {
                if (number(message) == 3) {
                    Db.pay(tx.connection(), id(message));
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute(commits);
                    }
                } else if (number(message) == 4) {
                    tx.connection().prepareStatement(INSERT).execute(); // its parameter is missing
                } else {
                    Db.pay(tx.connection(), id(message));
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(8));
            for (int i = 0; i < 8; i++) {
                boolean fails = i == 3 || i == 4;
                assertThat(outcomes.get(i)).as("m%s", i).matches(o -> fails == o instanceof Outcome.Failed);
                assertThat(db.payments("m" + i)).as("m%s", i).isEqualTo(i == 4 ? 0 : 1);
            }
            assertHiddenCommit(outcomes.get(3));
            assertThat(((Outcome.Failed<?>) outcomes.get(4)).kind()).isEqualTo(Failure.RETRYABLE);
            assertThat(db.markers()).isEqualTo(7);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a first statement that is never sent, or fails, costs no other message a second run")
    void aFirstStatementThatFailsCostsNobodyElse(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            List<String> runs = new ArrayList<>();
            Consumer consumer = each((message, tx) -> {
                runs.add(id(message));
                switch (number(message) % 4) {
                    case 1 -> tx.connection().prepareStatement(INSERT).execute(); // its parameter is missing
                    case 2 -> send(tx.connection(), INSERT, "x".repeat(200));
                    default -> Db.pay(tx.connection(), id(message));
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(12));
            assertThat(runs).hasSize(12);
            for (int i = 0; i < 12; i++) {
                boolean fails = i % 4 == 1 || i % 4 == 2;
                assertThat(outcomes.get(i)).as("m%s", i).matches(o -> fails == o instanceof Outcome.Failed);
            }
            assertThat(db.payments()).isEqualTo(6);
            assertThat(db.markers()).isEqualTo(6);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "PC-10 a deferred statement that commits before another one fails leaves nobody's marker without effect")
    void aDeferredStatementCommits(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            String commits = commits(db);
            Consumer consumer = each((message, tx) -> {
                if (number(message) == 1) {
                    tx.defer(commits);
                } else if (number(message) == 2) {
                    tx.defer(INSERT, "x".repeat(200));
                } else {
                    tx.defer(INSERT, id(message));
                }
                return null;
            });
            List<Message> open = messages(4);
            for (int delivery = 0; delivery < 3 && !open.isEmpty(); delivery++) {
                List<Outcome<?>> outcomes = inbox.acceptAll(consumer, open);
                List<Message> again = new ArrayList<>();
                for (int i = 0; i < open.size(); i++) {
                    Outcome<?> outcome = outcomes.get(i);
                    if (outcome.settlement() == Settlement.RETRY) {
                        again.add(open.get(i));
                    } else if (outcome.settlement() == Settlement.ACK && number(open.get(i)) != 1) {
                        assertThat(db.payments(id(open.get(i))))
                                .as("%s is %s", open.get(i), outcome)
                                .isEqualTo(1);
                    }
                }
                open = again;
            }
            assertThat(db.number("SELECT count(*) - count(DISTINCT order_id) FROM payment"))
                    .as("nobody is paid twice")
                    .isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(value = Database.class, names = "H2", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName(
            "PC-10 PG-15 when the connection is lost after the commit, a person is told of all, and nobody is done")
    void theConnectionIsLostAfterTheCommit(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            String commits = commits(db);
            String ends = ends(database);
            Consumer consumer = each((message, tx) -> {
                Db.pay(tx.connection(), id(message));
                if (number(message) == 3) {
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute(commits);
                        statement.execute(ends);
                    }
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(8));
            assertThat(outcomes).allSatisfy(BatchHiddenCommitTest::assertHiddenCommit);
            assertThat(db.payments()).as("no handler runs again").isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-10 PC-24 a handler that commits and is then too late is found out, and so is who failed before it")
    void tooLateAfterTheCommit(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            String commits = commits(db);
            Consumer consumer = Consumer.named("batch")
                    .policy(Policy.defaults().withHandlerTimeout(Duration.ofMillis(500)))
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), id(message));
                        if (number(message) == 1) {
                            throw new IllegalStateException("no");
                        }
                        if (number(message) == 2) {
                            try (Statement statement = tx.connection().createStatement()) {
                                statement.execute(commits);
                            }
                            new CountDownLatch(1).await(); // until it is interrupted
                        }
                        return null;
                    })
                    .build();
            for (int size : new int[] {1, 4}) { // alone, and with others
                db.execute("DELETE FROM payment", "DELETE FROM idem_marker");
                List<Message> late = messages(4).subList(size == 1 ? 2 : 0, size == 1 ? 3 : 4);
                List<Outcome<?>> outcomes = inbox.acceptAll(consumer, late);
                assertThat(outcomes).allSatisfy(BatchHiddenCommitTest::assertHiddenCommit);
                assertThat(db.markers()).isEqualTo(size);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Database.class, names = "H2", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("PC-10 PG-15 who failed before the commit is told too, when the connection is lost after it")
    void whoFailedBefore(Database database) throws Exception {
        for (int runs : new int[] {1, 3}) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = db.inbox()) {
                String commits = commits(db);
                String ends = ends(database);
                Consumer consumer = Consumer.named("batch")
                        .policy(Policy.defaults().withMaxRuns(runs))
                        .otherwise((message, tx) -> {
                            Db.pay(tx.connection(), id(message));
                            if (number(message) == 1) {
                                throw new IllegalStateException("no");
                            }
                            if (number(message) == 2) {
                                try (Statement statement = tx.connection().createStatement()) {
                                    statement.execute(commits);
                                    statement.execute(ends);
                                }
                            }
                            return null;
                        })
                        .build();
                for (Outcome<?> outcome : inbox.acceptAll(consumer, messages(3))) {
                    assertHiddenCommit(outcome);
                }
                assertThat(db.markers()).isEqualTo(3);
            }
        }
    }

    private static String ends(Database database) {
        return database == Database.POSTGRESQL
                ? "SELECT pg_terminate_backend(pg_backend_pid())"
                : "KILL CONNECTION_ID()";
    }
}
