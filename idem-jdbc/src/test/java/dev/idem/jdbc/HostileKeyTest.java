package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Rejection;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.MariaDbServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ids that databases merge, cut or refuse: here each is a message of its own. */
class HostileKeyTest {
    private static List<String> lookAlikes() {
        List<String> ids = new ArrayList<>(List.of(
                "abc",
                "ABC",
                "\u00e1bc",
                "abc ",
                " abc",
                "abc\t",
                "abc\u0000",
                "a\u0000bc",
                "a\u200bbc",
                "\uff41\uff42\uff43",
                "a\u0301bc",
                "\u00dfx",
                "ssx",
                "abc\n",
                "'; DROP TABLE idem_marker; --",
                "\\",
                "\\\\",
                "%",
                "_",
                "\ud83d\ude00",
                "\ud83d\ude01",
                "\u0130",
                "i",
                "I",
                "\u0131",
                "1",
                "01",
                "1.0",
                "+1",
                "0f8fad5b-d9cb-469f-a165-70867728950e",
                "0F8FAD5B-D9CB-469F-A165-70867728950E",
                "0f8fad5bd9cb469fa16570867728950e",
                "{0f8fad5b-d9cb-469f-a165-70867728950e}",
                "a/b",
                "a\\/b",
                "a=b"));
        Random random = new Random(23);
        StringBuilder noise = new StringBuilder();
        while (noise.length() < 1023) {
            noise.append((char) ('!' + random.nextInt(90)));
        }
        ids.add(noise + "x");
        ids.add(noise + "y");
        ids.add("a".repeat(1023) + "x");
        ids.add("a".repeat(1023) + "y");
        ids.add("\u0001".repeat(1023) + "x"); // grows when it is made readable
        ids.add("\u0001".repeat(1023) + "y");
        return ids;
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @Tag("second-pass")
    @DisplayName(
            "PG-23 PG-28 MY-01 MY-02 MY-03 look-alike, long and hostile ids are different messages on every database")
    void lookAlikesAreDifferentMessages(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            assertAllDifferent(db, inbox);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "utf8mb4_general_ci",
                "utf8mb4_unicode_ci",
                "utf8mb4_bin",
                "utf8mb4_uca1400_ai_ci",
                "latin1_swedish_ci"
            })
    @DisplayName("MY-01 MY-02 the collation of the MariaDB database merges no ids and no consumers")
    void noCollationMergesIds(String collation) throws Exception {
        MariaDbServer server = MariaDbServer.shared();
        String name = server.createDatabase();
        Db.admin(server.jdbcUrl(name), "ALTER DATABASE " + name + " COLLATE " + collation);
        try (Db db = Db.at(Database.MARIADB, server.jdbcUrl(name));
                Inbox inbox = db.inbox(db.pool(2))) {
            assertAllDifferent(db, inbox);
            long before = db.markers();
            for (String consumer : List.of("mail", "Mail", "MAIL")) {
                assertThat(inbox.run(consumer, Db.message("1"), Transaction::nothingToDo))
                        .isInstanceOf(Outcome.Processed.class);
            }
            assertThat(db.markers()).isEqualTo(before + 3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-24 MY-03 an id that has no UTF-8 form or is too long is turned away before the database sees it")
    void whatCannotBeStoredIsRejected(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            for (int c = Character.MIN_SURROGATE; c <= Character.MAX_SURROGATE; c++) {
                assertThat(inbox.run("payments", Db.message("a" + (char) c + "b"), Transaction::nothingToDo))
                        .isInstanceOfSatisfying(
                                Outcome.Rejected.class,
                                rejected -> assertThat(rejected.reason()).isEqualTo(Rejection.KEY_MALFORMED));
            }
            assertThat(inbox.run("payments", Db.message("a".repeat(1025)), Transaction::nothingToDo))
                    .isInstanceOfSatisfying(
                            Outcome.Rejected.class,
                            rejected -> assertThat(rejected.reason()).isEqualTo(Rejection.KEY_TOO_LONG));
            assertThat(db.markers()).isZero();
        }
    }

    private static void assertAllDifferent(Db db, Inbox inbox) throws Exception {
        List<String> ids = lookAlikes();
        for (String id : ids) {
            assertThat(inbox.run("payments", Db.message(id), tx -> Db.pay(tx.connection(), "x")))
                    .as(id)
                    .isInstanceOf(Outcome.Processed.class);
        }
        for (String id : ids) {
            assertThat(inbox.run("payments", Db.message(id), tx -> Db.pay(tx.connection(), "x")))
                    .as(id)
                    .isInstanceOf(Outcome.Duplicate.class);
        }
        assertThat(db.payments()).isEqualTo(ids.size());
        assertThat(db.markers()).isEqualTo(ids.size());
    }
}
