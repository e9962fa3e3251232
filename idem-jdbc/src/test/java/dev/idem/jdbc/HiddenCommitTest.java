package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.Settlement;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** SQL that ends the transaction: refused where it can be seen, found out where it hides. */
class HiddenCommitTest {
    @ParameterizedTest
    @MethodSource("databases")
    @DisplayName("PC-09 COMMIT is refused on every way a statement takes text")
    void everyWayIsGuarded(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            inbox.run("payments", Db.message("1"), tx -> {
                Connection c = tx.connection();
                Db.pay(c, "1");
                try (Statement s = c.createStatement()) {
                    for (Sql way : List.<Sql>of(
                            s::execute,
                            s::executeQuery,
                            s::executeUpdate,
                            s::executeLargeUpdate,
                            sql -> s.execute(sql, Statement.NO_GENERATED_KEYS),
                            sql -> {
                                s.addBatch(sql);
                                return s.executeBatch();
                            },
                            c::prepareStatement,
                            c::prepareCall,
                            sql -> c.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS))) {
                        assertThatThrownBy(() -> way.send("COMMIT")).hasMessageStartingWith("Refused: COMMIT");
                    }
                }
            });
            assertThat(db.payments("1")).isEqualTo(1);
        }
    }

    static Stream<Database> databases() {
        return Stream.of(Database.values());
    }

    @FunctionalInterface
    interface Sql {
        Object send(String sql) throws SQLException;
    }

    static Stream<Arguments> hidden() {
        return Stream.of(
                Arguments.of(Database.POSTGRESQL, "INSERT INTO payment (order_id) VALUES ('hidden'); COMMIT"),
                Arguments.of(Database.MARIADB, "INSERT INTO payment (order_id) VALUES ('hidden'); COMMIT"),
                Arguments.of(Database.MARIADB, "CALL makes_a_table()"),
                Arguments.of(Database.MARIADB, "CALL commits()"),
                Arguments.of(Database.MARIADB, "EXECUTE IMMEDIATE 'COMMIT'"),
                Arguments.of(Database.POSTGRESQL, "/* a /* nested */ comment */ COMMIT"),
                Arguments.of(Database.H2, "INSERT INTO payment (order_id) VALUES ('hidden'); COMMIT"),
                Arguments.of(
                        Database.H2, "INSERT INTO payment (order_id) VALUES ('hidden'); CREATE TABLE hidden (a INT)"));
    }

    @ParameterizedTest
    @MethodSource("hidden")
    @Tag("second-pass")
    @DisplayName("PC-09 PC-10 a commit that hides is found out when the handler returns")
    void aHiddenCommitIsFoundOutAtTheEnd(Database database, String sql) {
        check(database, sql, Ending.RETURNS);
    }

    @ParameterizedTest
    @MethodSource("hidden")
    @DisplayName("PC-09 PC-10 a commit that hides is found out when the handler throws")
    void aHiddenCommitIsFoundOutAfterAnException(Database database, String sql) {
        check(database, sql, Ending.THROWS);
    }

    @ParameterizedTest
    @MethodSource("hidden")
    @DisplayName("PC-09 PC-24 a commit that hides is found out when the handler is too late and loses its connection")
    void aHiddenCommitIsFoundOutAfterATimeout(Database database, String sql) {
        check(database, sql, Ending.TOO_LATE);
    }

    @ParameterizedTest
    @MethodSource("hidden")
    @DisplayName("PC-09 a commit that hides is found out when the handler's result cannot be stored")
    void aHiddenCommitIsFoundOutBeforeTheResult(Database database, String sql) {
        check(database, sql, Ending.RESULT_TOO_LARGE);
    }

    private enum Ending {
        RETURNS,
        THROWS,
        TOO_LATE,
        RESULT_TOO_LARGE
    }

    private static Policy policy(Ending ending) {
        return ending == Ending.TOO_LATE
                ? Policy.defaults().withHandlerTimeout(Duration.ofMillis(500))
                : Policy.defaults().withMaxResultBytes(10);
    }

    private static void check(Database database, String sql, Ending ending) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(1, options(database)))) {
            if (database == Database.MARIADB) {
                db.execute(
                        "CREATE PROCEDURE makes_a_table() CREATE TABLE hidden (a INT)",
                        "CREATE PROCEDURE commits() COMMIT");
            }
            Consumer consumer = Consumer.named("payments")
                    .policy(policy(ending))
                    .on(
                            "t",
                            Message::payload,
                            (event, tx) -> {
                                Db.pay(tx.connection(), "before");
                                try (Statement statement = tx.connection().createStatement()) {
                                    statement.execute(sql);
                                }
                                Db.pay(tx.connection(), "after");
                                if (ending == Ending.THROWS) {
                                    throw new IllegalStateException("no");
                                }
                                if (ending == Ending.TOO_LATE) {
                                    new CountDownLatch(1).await(); // until it is interrupted
                                }
                                return ending == Ending.RESULT_TOO_LARGE ? "x".repeat(100) : "done";
                            },
                            ResultCodec.text())
                    .build();
            Outcome<?> outcome =
                    inbox.accept(consumer, Db.message("1").toBuilder().type("t").build());
            assertThat(outcome.settlement()).isEqualTo(Settlement.DEAD_LETTER);
            assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                assertThat(failed.kind()).isEqualTo(Failure.TERMINAL);
                assertThat(failed.cause())
                        .isInstanceOfSatisfying(
                                BrokenTransactionException.class,
                                broken -> assertThat(broken.leftBehind()).isTrue())
                        .hasMessageContaining("payments/1")
                        .hasMessageContaining("by hand");
                if (ending == Ending.THROWS) {
                    assertThat(failed.cause().getSuppressed()).hasAtLeastOneElementOfType(IllegalStateException.class);
                }
            });
            assertThat(db.payments("after"))
                    .as("the part after the hidden commit is undone")
                    .isZero();
            assertThat(db.markers()).isEqualTo(1);
            // The pool's only connection serves the next message.
            assertThat(inbox.accept(next(), Db.message("2"))).isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments("2")).isEqualTo(1);
        }
    }

    private static Consumer next() {
        return Consumer.named("payments")
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), "2");
                    return null;
                })
                .build();
    }

    private static String[] options(Database database) {
        return database == Database.MARIADB ? new String[] {"allowMultiQueries=true"} : new String[0];
    }
}
