package dev.idem.jdbc.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.schema.Database;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Which SQL text would end the transaction, as far as its first words tell. */
@Tag("quick")
class SqlTextTest {
    private static final List<String> EVERYWHERE = List.of(
            "COMMIT",
            "commit work",
            "  \n COMMIT",
            "; COMMIT",
            "-- a comment\nCOMMIT",
            "/* a comment */ COMMIT",
            "/* a */ -- b\n /* c */ cOmMiT",
            "/* " + "long ".repeat(5_000) + "*/" + " ".repeat(20_000) + "COMMIT",
            "-- line\n".repeat(5_000) + "COMMIT",
            "ROLLBACK",
            "ROLLBACK WORK",
            "BEGIN");

    static Stream<Arguments> texts() {
        return Stream.of(
                        EVERYWHERE.stream()
                                .flatMap(sql -> Stream.of(Database.values()).map(d -> Arguments.of(d, sql))),
                        Stream.of(
                                        "END",
                                        "ABORT",
                                        "START TRANSACTION",
                                        "COMMIT AND CHAIN",
                                        "PREPARE TRANSACTION 'x'",
                                        "DISCARD ALL",
                                        "COMMIT PREPARED 'x'",
                                        "ROLLBACK PREPARED 'x'")
                                .map(sql -> Arguments.of(Database.POSTGRESQL, sql)),
                        Stream.of(
                                        "# a comment\nCOMMIT",
                                        "START TRANSACTION",
                                        "XA START 'x'",
                                        "SET AUTOCOMMIT=1",
                                        "set autocommit = 1",
                                        "SET SESSION autocommit = 1",
                                        "SET @@autocommit = 1",
                                        "SET @x = 1, autocommit = 1",
                                        "LOCK TABLES payment WRITE",
                                        "UNLOCK TABLES",
                                        "CREATE TABLE x (a INT)",
                                        "create index x on payment (order_id)",
                                        "ALTER TABLE payment ADD x INT",
                                        "DROP TABLE payment",
                                        "TRUNCATE payment",
                                        "RENAME TABLE payment TO x",
                                        "GRANT SELECT ON *.* TO x",
                                        "ANALYZE TABLE payment",
                                        "FLUSH TABLES",
                                        "/*! COMMIT */",
                                        "/*M! COMMIT */")
                                .map(sql -> Arguments.of(Database.MARIADB, sql)),
                        Stream.of(
                                        "CREATE TABLE x (a INT)",
                                        "ALTER TABLE payment ADD x INT",
                                        "DROP TABLE payment",
                                        "TRUNCATE TABLE payment",
                                        "SET AUTOCOMMIT TRUE",
                                        "// a comment\nCOMMIT",
                                        "SHUTDOWN",
                                        "CREATE TEMPORARY TABLE x (a INT)",
                                        "COMMIT TRANSACTION x")
                                .map(sql -> Arguments.of(Database.H2, sql)))
                .flatMap(cases -> cases);
    }

    @ParameterizedTest
    @MethodSource("texts")
    @Tag("second-pass")
    @DisplayName(
            "PC-09 SQL text that ends the transaction is refused, in a statement, a batch and a prepared statement")
    void aTextThatEndsTheTransactionIsRefused(Database database, String sql) {
        SqlText texts = new SqlText(Dialect.of(database).committing());
        assertThatThrownBy(() -> texts.refuseCommitting(sql))
                .isInstanceOf(SQLException.class)
                .hasMessageStartingWith("Refused: ");
    }

    static Stream<Arguments> harmless() {
        return Stream.of(
                        "SELECT 1",
                        "INSERT INTO payment (order_id) VALUES ('COMMIT')",
                        "/* COMMIT */ SELECT 1",
                        "-- COMMIT\nSELECT 1",
                        "SAVEPOINT x",
                        "ROLLBACK TO SAVEPOINT x",
                        "rollback work to savepoint x",
                        "ROLLBACK TO x",
                        "RELEASE SAVEPOINT x",
                        "",
                        "WITH commit AS (SELECT 1) SELECT * FROM commit",
                        "UPDATE payment SET run = 1")
                .flatMap(sql -> Stream.of(Database.values()).map(d -> Arguments.of(d, sql)));
    }

    @ParameterizedTest
    @MethodSource
    @DisplayName("PC-09 SQL text that only looks like it passes")
    void harmless(Database database, String sql) throws Exception {
        new SqlText(Dialect.of(database).committing()).refuseCommitting(sql);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a handler that builds long texts without end costs no memory")
    void longTextsAreNotKept(Database database) throws Exception {
        SqlText texts = new SqlText(Dialect.of(database).committing());
        List<WeakReference<String>> sent = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            String sql =
                    "INSERT INTO payment (order_id) VALUES ('" + i + "-" + "x".repeat(i < 1_000 ? 4_000 : 1_000) + "')";
            texts.refuseCommitting(sql);
            sent.add(new WeakReference<>(sql));
        }
        await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
            System.gc();
            assertThat(kept(sent)).as("characters kept").isLessThan(2_000_000);
        });
        for (String known : List.of("SELECT 1", "INSERT INTO payment VALUES (1)")) {
            texts.refuseCommitting(known); // still judged when nothing more is remembered
        }
        assertThatThrownBy(() -> texts.refuseCommitting("COMMIT")).isInstanceOf(SQLException.class);
        Reference.reachabilityFence(texts);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "INSERT INTO payment VALUES (?) | true",
                "INSERT INTO payment VALUES (?);  | true",
                "/* who asks */ INSERT INTO payment VALUES (?) | true",
                "INSERT INTO payment VALUES (?); COMMIT | false",
                "INSERT INTO payment VALUES (?);-- | false",
                "INSERT INTO payment VALUES (';x') | false",
                "/* a /* nested */ comment */ COMMIT | false"
            })
    @DisplayName("PC-09 a text that may hold another statement, which may be a commit, is known as such")
    void textsThatMayHoldMore(String sql, boolean single) throws Exception {
        SqlText texts = new SqlText(Dialect.of(Database.POSTGRESQL).committing());
        assertThat(texts.refuseCommitting(sql)).isEqualTo(single);
        assertThat(texts.refuseCommitting(sql)).as("remembered").isEqualTo(single);
    }

    private static long kept(List<WeakReference<String>> sent) {
        return sent.stream()
                .map(WeakReference::get)
                .filter(Objects::nonNull)
                .mapToLong(String::length)
                .sum();
    }
}
