package dev.idem.internal.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.InboxFixture;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.ScriptedUnit;
import dev.idem.Settlement;
import dev.idem.internal.key.KeyEncoding;
import dev.idem.join.JoinedFailure;
import dev.idem.join.JoinedInbox;
import dev.idem.join.Provisional;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Messages that join one transaction, some inside the handlers of others. */
class JoinedHandlerTest extends InboxFixture {
    private static final Message SECOND = Message.of("second", new byte[0]);
    private static final Message THIRD = Message.of("third", new byte[0]);

    private final JoinedInbox joined =
            inbox.within(ScriptedUnit.stub(Connection.class), JoinedFailure.UNDO_TO_SAVEPOINT);

    @Test
    @DisplayName("PG-13 what joined inside a handler that failed must come again, and its confirm says why")
    void whatIsUndoneTogether() {
        store.thenGrant("outer");
        store.thenGrant("middle");
        store.thenGrant("inner");
        store.thenTakenBy("inner");
        List<Provisional<?>> inside = new ArrayList<>();
        assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> {
                    inside.add(joined.process("billing", SECOND, t -> {
                        inside.add(joined.process("billing", THIRD, deepest -> "r"));
                        return "r";
                    }));
                    inside.add(joined.process("billing", THIRD, t -> "never"));
                    inside.forEach(Provisional::confirm);
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        List<String> before = List.copyOf(store.calls);
        assertThat(inside).hasSize(3).allSatisfy(answer -> {
            assertThat(answer.settlement(true)).isEqualTo(Settlement.RETRY);
            assertThat(answer.settlement(false)).isEqualTo(Settlement.RETRY);
            assertThatThrownBy(answer::confirm)
                    .isInstanceOfSatisfying(
                            BrokenTransactionException.class,
                            broken -> assertThat(broken.leftBehind()).isFalse())
                    .hasMessageContainingAll("inside the handler of billing/" + ID, "undone together", "RETRY");
        });
        assertThat(store.calls).as("no statement is sent for that").isEqualTo(before);
    }

    @Test
    void onlyTheHandlerAroundCounts() {
        store.thenGrant("first");
        store.thenGrant("failing");
        store.thenGrant("last");
        Provisional<String> first = joined.process("billing", SECOND, tx -> "r");
        assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> {
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        Provisional<String> last = joined.process("billing", THIRD, tx -> "r");
        for (Provisional<String> answer : List.of(first, last)) {
            answer.confirm();
            assertThat(answer.settlement(true)).isEqualTo(Settlement.ACK);
        }
    }

    @Test
    @DisplayName("a confirm inside the handler of a later message is refused, whether or not it would prove anything")
    void aConfirmInsideALaterHandler() {
        store.thenGrant("first");
        store.thenTakenBy("other");
        store.thenGrant("later");
        Provisional<String> first = joined.process("billing", SECOND, tx -> "r");
        Provisional<String> duplicate = joined.process("billing", THIRD, tx -> "never");
        joined.process("billing", MESSAGE, tx -> {
            for (Provisional<String> earlier : List.of(first, duplicate)) {
                assertThatThrownBy(earlier::confirm)
                        .isInstanceOf(NestedProcessingException.class)
                        .hasMessageContainingAll("billing/" + ID, "when that handler has returned");
            }
            return "r";
        });
        first.confirm();
        duplicate.confirm();
    }

    @Test
    void whatWasUndoneWakesNobody() {
        AtomicInteger woken = new AtomicInteger();
        Connection outer = ScriptedUnit.stub(Connection.class);
        JoinedHandler around = JoinedHandler.begin(KeyEncoding.unique("billing"), JoinedPlace.here(store, outer));
        Provisional<String> answer = new JoinedAnswer<>(
                new Outcome.Processed<>("r"), JoinedPlace.here(store, outer), () -> {}, woken::incrementAndGet);
        around.end();
        assertThat(JoinedHandler.running()).isNull();
        assertThat(answer.settlement(true)).isEqualTo(Settlement.ACK);
        assertThat(woken).hasValue(1);
        around.undone();
        assertThat(answer.settlement(true)).isEqualTo(Settlement.RETRY);
        assertThat(woken).hasValue(1);
    }

    @Test
    void whatIsInAnotherTransactionHasItsOwnFate() {
        store.thenGrant("outer");
        store.thenGrant("elsewhere");
        store.same = false;
        JoinedInbox other = inbox.within(ScriptedUnit.stub(Connection.class));
        List<Provisional<?>> elsewhere = new ArrayList<>();
        assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> {
                    elsewhere.add(other.process("billing", SECOND, t -> "r"));
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        elsewhere.get(0).confirm();
        assertThat(elsewhere.get(0).settlement(true)).isEqualTo(Settlement.ACK);
    }
}
