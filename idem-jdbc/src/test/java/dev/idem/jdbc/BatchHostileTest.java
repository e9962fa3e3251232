package dev.idem.jdbc;

import static dev.idem.jdbc.BatchTest.each;
import static dev.idem.jdbc.BatchTest.id;
import static dev.idem.jdbc.BatchTest.message;
import static dev.idem.jdbc.BatchTest.messages;
import static dev.idem.jdbc.BatchTest.number;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.jdbc.schema.Database;
import java.io.ByteArrayInputStream;
import java.io.StringReader;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Handlers that use JDBC in every way it allows: in a batch it works as it does alone, or fails its own message. */
@Tag("second-pass")
class BatchHostileTest {
    private static final String INSERT = "INSERT INTO payment (order_id) VALUES (?)";

    /** Every third message throws at its end; the others must be applied once, whatever their handler did. */
    private static void everyThirdFails(Database database, Handler<Message, ?> handler) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            prepare(db);
            List<Outcome<?>> outcomes = inbox.acceptAll(
                    each((message, tx) -> {
                        handler.handle(message, tx);
                        if (number(message) % 3 == 2) {
                            throw new IllegalStateException("no");
                        }
                        return null;
                    }),
                    messages(12));
            for (int i = 0; i < 12; i++) {
                boolean fails = i % 3 == 2;
                assertThat(outcomes.get(i)).as("m%s", i).matches(o -> fails == o instanceof Outcome.Failed);
                assertThat(db.payments("m" + i)).as("m%s", i).isEqualTo(fails ? 0 : 1);
            }
            assertThat(db.payments()).isEqualTo(8);
            assertThat(db.markers()).isEqualTo(8);
        }
    }

    private static void prepare(Db db) {
        db.execute("CREATE TABLE blobs (id VARCHAR(20), bytes "
                + (db.kind() == Database.POSTGRESQL ? "bytea" : "VARBINARY(100)") + ", chars VARCHAR(100))");
        switch (db.kind()) {
            case POSTGRESQL ->
                db.execute("CREATE PROCEDURE pay(x text) LANGUAGE SQL AS $$ INSERT INTO payment VALUES (x) $$");
            case MARIADB ->
                db.execute("CREATE PROCEDURE pay(x VARCHAR(100)) BEGIN INSERT INTO payment (order_id) VALUES (x); END");
            case H2 -> db.execute("CREATE ALIAS pay FOR 'dev.idem.jdbc.BatchHostileTest.pay'");
        }
    }

    /** H2's idea of a procedure. */
    public static void pay(Connection connection, String order) throws SQLException {
        Db.pay(connection, order);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-11 streams are written whole when another statement goes first")
    void streamsAndAnotherOrder(Database database) throws Exception {
        everyThirdFails(database, (message, tx) -> {
            try (PreparedStatement later =
                            tx.connection().prepareStatement("INSERT INTO blobs (id, bytes, chars) VALUES (?, ?, ?)");
                    PreparedStatement first = tx.connection().prepareStatement(INSERT)) {
                later.setString(1, id(message));
                later.setBinaryStream(2, new ByteArrayInputStream(new byte[] {1, 2, 3}));
                later.setCharacterStream(3, new StringReader("abc"));
                first.setString(1, id(message));
                assertThat(first.executeUpdate()).isEqualTo(1);
                assertThat(later.executeUpdate()).isEqualTo(1);
            }
            try (Statement statement = tx.connection().createStatement();
                    ResultSet row =
                            statement.executeQuery("SELECT bytes, chars FROM blobs WHERE id = '" + id(message) + "'")) {
                assertThat(row.next()).isTrue();
                assertThat(row.getBytes(1)).containsExactly(1, 2, 3);
                assertThat(row.getString(2)).isEqualTo("abc");
            }
            return null;
        });
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-11 asking a statement while its rows are read does not close them")
    void questionsWhileReading(Database database) throws Exception {
        everyThirdFails(database, (message, tx) -> {
            try (PreparedStatement query = tx.connection().prepareStatement("SELECT ? AS x")) {
                query.setString(1, "1");
                try (ResultSet rows = query.executeQuery()) {
                    assertThat(query.getFetchSize() + query.getQueryTimeout() + query.getMaxRows())
                            .isNotNegative();
                    query.clearWarnings();
                    assertThat(query.getConnection()).isSameAs(query.getConnection());
                    assertThat(rows.next()).isTrue();
                    query.setFetchSize(7);
                    assertThat(rows.getString(1)).isEqualTo("1");
                    assertThat(rows.getStatement()).isSameAs(query);
                }
                query.setString(1, "2");
                try (ResultSet again = query.executeQuery()) {
                    assertThat(again.next()).isTrue();
                    assertThat(again.getString(1)).isEqualTo("2");
                    assertThat(query.getFetchSize()).isEqualTo(7);
                }
            }
            Db.pay(tx.connection(), id(message));
            return null;
        });
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-11 a wrong kind of execution is refused alike, first or later")
    void wrongExecution(Database database) throws Exception {
        everyThirdFails(database, (message, tx) -> {
            Connection connection = tx.connection();
            Savepoint before = number(message) % 2 == 0 ? null : connection.setSavepoint(); // then it is not the first
            if (database == Database.POSTGRESQL) {
                try (PreparedStatement query = connection.prepareStatement("SELECT 1");
                        PreparedStatement insert = connection.prepareStatement(INSERT)) {
                    insert.setString(1, "nobody");
                    assertThatThrownBy(query::executeUpdate).isInstanceOf(SQLException.class);
                    assertThatThrownBy(insert::executeQuery).isInstanceOf(SQLException.class);
                }
                try (Statement statement = connection.createStatement()) {
                    statement.execute("DELETE FROM payment WHERE order_id = 'nobody'");
                }
            }
            assertThat(before == null).isEqualTo(number(message) % 2 == 0);
            Db.pay(connection, id(message));
            return null;
        });
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-11 fetch size, limits, generated keys, procedures and batches, each as the first statement")
    void everyKindFirst(Database database) throws Exception {
        everyThirdFails(database, (message, tx) -> {
            Connection connection = tx.connection();
            switch (number(message) % 6) {
                case 0 -> {
                    try (PreparedStatement query = connection.prepareStatement("SELECT order_id FROM payment")) {
                        query.setFetchSize(1);
                        query.setMaxRows(2);
                        query.setQueryTimeout(10);
                        try (ResultSet rows = query.executeQuery()) {
                            int seen = 0;
                            while (rows.next()) {
                                seen++;
                            }
                            assertThat(seen).isLessThanOrEqualTo(2);
                        }
                    }
                    Db.pay(connection, id(message));
                }
                case 1 -> {
                    try (PreparedStatement insert =
                            connection.prepareStatement(INSERT, Statement.RETURN_GENERATED_KEYS)) {
                        insert.setString(1, id(message));
                        insert.executeUpdate();
                        insert.getGeneratedKeys().close();
                    }
                }
                case 2 -> {
                    try (CallableStatement call =
                            connection.prepareCall(database == Database.POSTGRESQL ? "call pay(?)" : "{call pay(?)}")) {
                        call.setString(1, id(message));
                        call.execute();
                    }
                }
                case 3 -> {
                    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
                        insert.setString(1, id(message));
                        insert.addBatch();
                        assertThat(insert.executeBatch()).hasSize(1);
                    }
                }
                case 4 -> {
                    try (Statement statement = connection.createStatement()) {
                        statement.addBatch("INSERT INTO payment (order_id) VALUES ('" + id(message) + "')");
                        statement.executeBatch();
                    }
                }
                default -> {
                    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
                        assertThat(insert.getParameterMetaData().getParameterCount())
                                .isEqualTo(1);
                        insert.setString(1, "another");
                        insert.clearParameters();
                        insert.setString(1, id(message));
                        assertThat(insert.execute()).isFalse();
                        assertThat(insert.getUpdateCount()).isEqualTo(1);
                    }
                }
            }
            return null;
        });
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-07 a handler that goes back to its own savepoint after an error is applied")
    void ownSavepointAfterAnError(Database database) throws Exception {
        everyThirdFails(database, (message, tx) -> {
            Connection connection = tx.connection();
            Savepoint own = connection.setSavepoint("mine");
            try {
                Db.pay(connection, "x".repeat(200));
            } catch (SQLException tooLong) {
                connection.rollback(own);
            }
            Db.pay(connection, id(message));
            return null;
        });
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-09 a library that rolls back fails its own message, and no other")
    void libraryRollsBack(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = each((message, tx) -> {
                try (Connection library = tx.dataSource().getConnection()) {
                    library.setAutoCommit(false);
                    Db.pay(library, id(message));
                    if (number(message) % 4 == 1) {
                        library.rollback();
                    } else {
                        library.commit();
                    }
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(9));
            for (int i = 0; i < 9; i++) {
                boolean fails = i % 4 == 1;
                assertThat(outcomes.get(i)).matches(o -> fails == o instanceof Outcome.Failed);
                assertThat(db.payments("m" + i)).isEqualTo(fails ? 0 : 1);
            }
            assertThat(db.markers()).isEqualTo(7);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-24 HX-01 a thread that a handler left behind cannot write into the next message's part")
    void strayThread(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            CountDownLatch next = new CountDownLatch(1);
            AtomicInteger refused = new AtomicInteger();
            Thread[] stray = new Thread[1];
            Consumer consumer = each((message, tx) -> {
                if (number(message) == 1) {
                    Connection kept = tx.connection();
                    PreparedStatement prepared = kept.prepareStatement(INSERT);
                    stray[0] = new Thread(() -> {
                        for (int i = 0; i < 2; i++) {
                            try {
                                Together.await(next);
                                if (i == 0) {
                                    Db.pay(kept, "stray");
                                } else {
                                    prepared.setString(1, "stray");
                                    prepared.executeUpdate();
                                }
                            } catch (SQLException | InterruptedException expected) {
                                refused.incrementAndGet();
                            }
                        }
                    });
                    stray[0].start();
                } else if (number(message) == 2) {
                    next.countDown();
                    stray[0].join();
                }
                Db.pay(tx.connection(), id(message));
                return null;
            });
            assertThat(inbox.acceptAll(consumer, messages(4))).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(refused).hasValue(2);
            assertThat(db.payments("stray")).isZero();
            assertThat(db.payments()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-10 a hidden commit before the deferred statements of others costs them nothing")
    void hiddenCommitBeforeDeferredStatements(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            String commit = "SELECT 1; COMMIT";
            if (database == Database.MARIADB) {
                db.execute("CREATE PROCEDURE sneaky() BEGIN COMMIT; END");
                commit = "CALL sneaky()";
            }
            String hidden = commit;
            Consumer consumer = each((message, tx) -> {
                if (number(message) == 3) {
                    Db.pay(tx.connection(), id(message));
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute(hidden);
                    }
                } else {
                    tx.defer(INSERT, id(message));
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, messages(5));
            for (int i = 0; i < 5; i++) {
                boolean culprit = i == 3;
                assertThat(outcomes.get(i)).as("m%s", i).matches(o -> culprit == o instanceof Outcome.Failed);
                assertThat(db.payments("m" + i)).as("m%s", i).isEqualTo(1);
            }
            assertThat(((Outcome.Failed<?>) outcomes.get(3)).kind()).isEqualTo(Failure.TERMINAL);
            assertThat(db.markers()).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-03 of two messages, a twin elsewhere makes one busy and leaves the other alone")
    void busyInTheSmallestBatch(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox();
                Inbox elsewhere = db.inbox()) {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            var twin = Together.start(() -> elsewhere.accept(
                    each((message, tx) -> {
                        tx.nothingToDo();
                        running.countDown();
                        Together.await(end);
                        return null;
                    }),
                    message(0)));
            Together.await(running);
            for (int i = 1; i < 9; i++) { // keys on both sides of the busy one
                List<Outcome<?>> outcomes = inbox.acceptAll(
                        each((message, tx) -> {
                            Db.pay(tx.connection(), id(message));
                            return null;
                        }),
                        List.of(message(0), message(i)));
                assertThat(outcomes.get(0)).isInstanceOf(Outcome.Busy.class);
                assertThat(outcomes.get(1)).isInstanceOf(Outcome.Processed.class);
            }
            end.countDown();
            assertThat(Together.get(twin)).isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments()).isEqualTo(8);
            assertThat(db.markers()).isEqualTo(9);
        }
    }
}
