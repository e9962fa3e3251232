package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.JoinedInbox;
import dev.idem.join.Provisional;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** When a joined message fails its owner cannot commit, whatever connection it has; and then the owner goes on as ever. */
class JoinRollbackOnlyTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("an owner that swallows the failure of a joined message cannot commit, and its pool recovers")
    void anyConnection(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                HikariDataSource pool = db.pool(1);
                Inbox inbox = db.inbox(db.plain())) {
            inbox.register(Consumer.of("payments"));
            try (Connection outer = pool.getConnection()) {
                outer.setAutoCommit(false);
                Db.pay(outer, "owner");
                failing(inbox.within(outer));
                assertThatThrownBy(outer::commit).isInstanceOf(SQLException.class);
            }
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
            try (Connection outer = pool.getConnection()) {
                outer.setAutoCommit(false);
                JoinFixture.pay(inbox.within(outer), "1", "pay").confirm();
                outer.commit();
            }
            assertThat(db.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a connection of store.dataSource() refuses the commit in words, and is usable after its rollback")
    void connectionsOfTheStore(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                HikariDataSource pool = db.pool(2);
                JdbcStore store = db.store(pool);
                Inbox inbox = Inbox.create(store)) {
            inbox.register(Consumer.of("payments"));
            try (Connection outer = store.dataSource().getConnection()) {
                outer.setAutoCommit(false);
                Db.pay(outer, "owner");
                failing(inbox.within(outer));
                assertThatThrownBy(outer::commit).hasMessageContainingAll("joined", "rollback()");
                assertThatThrownBy(() -> Db.pay(outer, "more")).hasMessageContaining("joined");
                outer.rollback();
                JoinFixture.pay(inbox.within(outer), "1", "pay").confirm();
                outer.commit();
                assertThat(db.payments()).isEqualTo(1);

                failing(inbox.within(outer), "2");
                assertThatThrownBy(() -> outer.setAutoCommit(true))
                        .as("which would commit")
                        .hasMessageContaining("joined");
                assertThat(outer.getAutoCommit()).isTrue();
            }
            try (Connection outer = store.dataSource().getConnection()) {
                outer.setAutoCommit(false);
                Db.pay(outer, "owner");
                failing(inbox.within(outer), "3");
            }
            assertThat(db.payments()).isEqualTo(1);
            assertThat(db.markers()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a handler that swallows the failure of a message it joined is refused")
    void handlers(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        failing(inbox.within(tx.connection()), "2");
                        assertThatThrownBy(() -> Db.pay(tx.connection(), "more"))
                                .isInstanceOf(SQLException.class);
                    }))
                    .isInstanceOf(BrokenTransactionException.class)
                    .hasMessageContaining("joined");
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "several joined inboxes of one connection, and of several stores, are confirmed in any order, again and again")
    void severalOnOneConnection(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox first = db.inbox();
                Inbox second = db.inbox();
                Connection outer = db.plain().getConnection()) {
            outer.setAutoCommit(false);
            for (int round = 0; round < 3; round++) { // a pooled connection serves one transaction after the other
                Provisional<?> a = JoinFixture.pay(first.within(outer), "a" + round, "pay");
                Provisional<?> b = JoinFixture.pay(first.within(outer), "b" + round, "pay");
                Provisional<?> c = JoinFixture.pay(second.within(outer), "c" + round, "pay");
                b.confirm();
                a.confirm();
                c.confirm();
                b.confirm();
                if (round == 1) {
                    outer.rollback();
                    assertThatThrownBy(c::confirm).isInstanceOf(BrokenTransactionException.class);
                    assertThatThrownBy(a::confirm).isInstanceOf(BrokenTransactionException.class);
                    outer.rollback(); // which a failed look has spoilt
                } else {
                    outer.commit();
                }
            }
            assertThat(db.payments()).isEqualTo(6);
            assertThat(db.markers()).isEqualTo(6);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Database.class, names = "POSTGRESQL", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName(
            "PC-10 also the newer of two joined messages learns of an implicit commit after the older was confirmed")
    void aConfirmProvesForTheLaterOnes(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            Provisional<?> older = fixture.pay("1");
            Provisional<?> newer = fixture.pay("2");
            older.confirm();
            newer.confirm();
            JoinUndoneTest.execute(fixture.outer, "CREATE TABLE surprise (id INT)");
            assertThatThrownBy(newer::confirm).isInstanceOf(BrokenTransactionException.class);
        }
    }

    private static void failing(JoinedInbox joined) {
        failing(joined, "1");
    }

    private static void failing(JoinedInbox joined, String id) {
        assertThatThrownBy(() -> joined.run("payments", JoinFixture.message(id), tx -> {
                    Db.pay(tx.connection(), id);
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no")
                .satisfies(failure -> assertThat(failure.getSuppressed())
                        .singleElement()
                        .asString()
                        .contains("can only be rolled back"));
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "an owner's transaction goes on when a joined message is a duplicate, undecodable or of an unknown type")
    void whatDoesNotFailTheOwner(Database database) throws Exception {
        Consumer consumer = Consumer.named("payments")
                .on(
                        "t",
                        message -> {
                            throw new IllegalStateException("not this format");
                        },
                        (event, tx) -> "never")
                .build();
        try (JoinFixture fixture = new JoinFixture(database);
                Statement statement = fixture.outer.createStatement()) {
            Db.pay(fixture.outer, "owner");
            fixture.pay("1");
            assertThat(fixture.pay("1").outcome()).isInstanceOf(Outcome.Duplicate.class);
            assertThat(fixture.joined
                            .accept(
                                    consumer,
                                    JoinFixture.message("2").toBuilder()
                                            .type("t")
                                            .build())
                            .outcome())
                    .isInstanceOf(Outcome.Rejected.class);
            assertThat(fixture.joined.accept(consumer, JoinFixture.message("3")).outcome())
                    .isInstanceOf(Outcome.Rejected.class);
            statement.execute("SELECT 1");
            fixture.outer.commit();
            assertThat(fixture.db.payments()).isEqualTo(2);
            assertThat(fixture.db.markers()).isEqualTo(1);
        }
    }
}
