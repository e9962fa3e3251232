package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.Provisional;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two messages are in one transaction at once, one inside the other's handler: what becomes of the inner one. */
class JoinInsideTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-13 HX-16 an inner message that was undone with the outer one is not acknowledged, and says why")
    void isUndoneWithTheOuterOne(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database);
                Inbox other = fixture.db.inbox()) {
            Provisional<?> before = fixture.pay("before");
            List<Provisional<?>> inner = new ArrayList<>();
            assertThatThrownBy(() -> fixture.undoing.process("payments", JoinFixture.message("outer"), tx -> {
                        Db.pay(tx.connection(), "outer");
                        inner.add(fixture.pay("1"));
                        inner.add(fixture.pay("1"));
                        inner.add(JoinFixture.pay(other.within(tx.connection()), "2", "pay"));
                        inner.add(fixture.undoing.process("payments", JoinFixture.message("3"), middle -> {
                            inner.add(fixture.pay("4"));
                            return true;
                        }));
                        inner.forEach(Provisional::confirm);
                        throw new IllegalStateException("outer fails");
                    }))
                    .hasMessage("outer fails");
            assertThat(inner).hasSize(5).allSatisfy(JoinInsideTest::assertUndone);
            assertThat(inner.get(1).outcome()).isInstanceOf(Outcome.Duplicate.class);

            Provisional<?> again = fixture.pay("1");
            again.confirm();
            before.confirm();
            fixture.outer.commit();
            assertThat(again.settlement(true)).isEqualTo(Settlement.ACK);
            assertThat(before.settlement(true)).isEqualTo(Settlement.ACK);
            assertThat(inner).allSatisfy(JoinInsideTest::assertUndone);
            assertThat(fixture.db.payments()).isEqualTo(2);
            assertThat(fixture.db.markers()).isEqualTo(2);
        }
    }

    private static void assertUndone(Provisional<?> answer) {
        assertThat(answer.settlement(true)).isEqualTo(Settlement.RETRY);
        assertThatThrownBy(answer::confirm)
                .isInstanceOfSatisfying(
                        BrokenTransactionException.class,
                        broken -> assertThat(broken.leftBehind()).isFalse())
                .hasMessageContainingAll("inside the handler of payments/outer", "undone together with it", "RETRY");
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-16 an inner message that fails and is undone leaves the outer one, and what was inside before")
    void failsAlone(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            List<Provisional<?>> inner = new ArrayList<>();
            Provisional<?> outer = fixture.joined.process("payments", JoinFixture.message("outer"), tx -> {
                Db.pay(tx.connection(), "outer");
                inner.add(fixture.pay("1"));
                assertThatThrownBy(() -> fixture.undoing.process("payments", JoinFixture.message("2"), failing -> {
                            Db.pay(failing.connection(), "2");
                            throw new IllegalStateException("2 fails");
                        }))
                        .hasMessage("2 fails");
                inner.add(fixture.pay("3"));
                return true;
            });
            inner.forEach(Provisional::confirm);
            outer.confirm();
            fixture.outer.commit();
            assertThat(inner).allMatch(answer -> answer.settlement(true) == Settlement.ACK);
            assertThat(fixture.db.payments()).isEqualTo(3);
            assertThat(fixture.db.markers()).isEqualTo(3);
        }
    }
}
