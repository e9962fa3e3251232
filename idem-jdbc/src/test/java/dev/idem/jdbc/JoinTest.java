package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.JoinedFailure;
import dev.idem.join.JoinedInbox;
import dev.idem.join.Provisional;
import java.sql.Connection;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A message processed in a transaction that somebody else opened and ends. */
class JoinTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    void isAppliedWhenTheOwnerCommits(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            Db.pay(fixture.outer, "the owner's");
            Provisional<?> answer = fixture.pay("1");
            assertThat(answer.outcome()).isEqualTo(new Outcome.Processed<>(true));
            assertThat(fixture.db.payments()).isZero();
            answer.confirm();
            fixture.outer.commit();
            assertThat(fixture.db.payments()).isEqualTo(2);
            assertThat(fixture.inbox.process("payments", JoinFixture.message("1"), JoinFixture.paying("1")))
                    .isInstanceOf(Outcome.Duplicate.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void leavesNothingWhenTheOwnerRollsBack(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            fixture.pay("1").confirm();
            fixture.outer.rollback();
            assertThat(fixture.db.payments()).isZero();
            assertThat(fixture.db.markers()).isZero();
            assertThat(fixture.inbox.process("payments", JoinFixture.message("1"), JoinFixture.paying("1")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void duplicateBusyAndConflictLeaveTheOuterTransactionUsable(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database);
                Connection other = fixture.begin()) {
            JoinFixture.pay(fixture.inbox.within(other), "done", "pay");
            other.commit();
            JoinFixture.pay(fixture.inbox.within(other), "running", "pay");

            Db.pay(fixture.outer, "before");
            assertThat(fixture.pay("done").outcome()).isInstanceOf(Outcome.Duplicate.class);
            assertThat(JoinFixture.pay(fixture.joined, "done", "pay more").outcome())
                    .isInstanceOf(Outcome.Conflict.class);
            Consumer impatient = Consumer.named("payments")
                    .policy(Policy.defaults().withBusyWait(Duration.ofMillis(100)))
                    .build();
            assertThat(fixture.joined
                            .process(impatient, JoinFixture.message("running"), JoinFixture.paying("running"))
                            .outcome())
                    .isInstanceOf(Outcome.Busy.class);
            fixture.pay("new").confirm();
            fixture.outer.commit();
            other.rollback();
            assertThat(fixture.db.payments()).isEqualTo(3);
            assertThat(fixture.db.payments("running")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aHandlersExceptionUndoesOnlyWhatCameSinceTheClaimIfTheOwnerSaysSo(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            Db.pay(fixture.outer, "before");
            IllegalStateException failure = new IllegalStateException("no");
            assertThatThrownBy(() -> fixture.undoing.process("payments", JoinFixture.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        throw failure;
                    }))
                    .isSameAs(failure);
            Db.pay(fixture.outer, "after");
            fixture.outer.commit();
            assertThat(fixture.db.payments()).isEqualTo(2);
            assertThat(fixture.db.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void severalMessagesJoinOneTransactionAndAreConfirmedInAnyOrder(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            Provisional<?> first = fixture.pay("1");
            Provisional<?> second = fixture.pay("2");
            Provisional<?> third = fixture.pay("3");
            second.confirm();
            first.confirm();
            third.confirm();
            first.confirm();
            fixture.outer.commit();
            assertThat(fixture.db.payments()).isEqualTo(3);
            assertThat(fixture.db.markers()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-17 inside a handler another key joins its unit, and the same key is refused at once")
    void joinsARunningUnit(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            fixture.inbox.process("payments", JoinFixture.message("1"), tx -> {
                Db.pay(tx.connection(), "1");
                JoinedInbox inner = fixture.inbox.within(tx.connection(), JoinedFailure.UNDO_TO_SAVEPOINT);
                JoinFixture.pay(inner, "2", "pay").confirm();
                assertThat(JoinFixture.pay(inner, "2", "pay").outcome()).isInstanceOf(Outcome.Duplicate.class);
                assertThatThrownBy(() -> inner.process("payments", JoinFixture.message("3"), joined -> {
                            Db.pay(joined.connection(), "3");
                            throw new IllegalStateException("no");
                        }))
                        .hasMessage("no");
                assertThatThrownBy(() -> JoinFixture.pay(inner, "1", "pay"))
                        .isInstanceOf(NestedProcessingException.class);
                return true;
            });
            assertThat(fixture.db.payments()).isEqualTo(2);
            assertThat(fixture.db.markers()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-07 in a joined handler the store's data source is the outer transaction, not a second one")
    void theStoresDataSourceJoinsToo(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            JdbcStore store = (JdbcStore) fixture.inbox.store();
            fixture.joined.process("payments", JoinFixture.message("1"), tx -> {
                try (Connection connection = store.dataSource().getConnection()) {
                    Db.pay(connection, "1");
                }
                return true;
            });
            try (Connection outside = store.dataSource().getConnection()) {
                Db.pay(outside, "ordinary");
            }
            assertThat(fixture.db.payments()).isEqualTo(1);
            fixture.outer.rollback();
            assertThat(fixture.db.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-08 a library's rollback inside a joined handler undoes that message alone, loudly")
    void aSwallowedRollbackOfALibraryIsRefused(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            Db.pay(fixture.outer, "before");
            assertThatThrownBy(() -> fixture.undoing.process("payments", JoinFixture.message("1"), tx -> {
                        Connection connection = tx.dataSource().getConnection();
                        Db.pay(connection, "1");
                        connection.rollback();
                        return true;
                    }))
                    .isInstanceOf(BrokenTransactionException.class);
            fixture.outer.commit();
            assertThat(fixture.db.payments()).isEqualTo(1);
            assertThat(fixture.db.markers()).isZero();
        }
    }
}
