package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.spi.TransientStoreException;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RunAgainTest extends InboxFixture {
    private final TransientStoreException deadlock = new TransientStoreException("deadlock", null);

    @Test
    void aClaimThatFailsForAReasonThatPassesIsTriedAgain() {
        store.thenFail(deadlock).thenFail(deadlock).thenGrant("c");
        assertThat(inbox.process(CONSUMER, MESSAGE, tx -> "r")).isEqualTo(new Outcome.Processed<>("r"));
        assertThat(events()).containsExactly("ranAgain 1", "ranAgain 1", "Processed");
    }

    @Test
    void aCommitThatWasSurelyUndoneRunsTheHandlerAgainInAFreshUnit() {
        store.thenGrant("a").commitFails(deadlock);
        store.thenGrant("b");
        List<Integer> runs = new ArrayList<>();
        inbox.process(CONSUMER, MESSAGE, tx -> runs.add(tx.run()));
        assertThat(runs).containsExactly(1, 2);
        assertThat(store.calls)
                .containsExactly("claim", "revoke", "commit", "close", "claim", "revoke", "commit", "close");
        assertThat(events()).containsExactly("ranAgain 2", "Processed");
        assertThat(heard.deliveries.get(0).runs()).isEqualTo(2);
    }

    @Test
    void aHandlerUndoneByTheDatabaseRunsAgain() throws Exception {
        store.thenGrant("a");
        store.thenGrant("b");
        Outcome<Integer> outcome = inbox.process(CONSUMER, MESSAGE, tx -> {
            if (tx.run() == 1) {
                throw new SQLTransientException("serialization failure");
            }
            return tx.run();
        });
        assertThat(outcome).isEqualTo(new Outcome.Processed<>(2));
        assertThat(store.calls).containsExactly("claim", "rollback", "close", "claim", "revoke", "commit", "close");
    }

    @Test
    @DisplayName("HX-13 each run is given the unit of its own claim")
    void eachRunHasItsOwnTransaction() {
        ScriptedUnit first = store.thenGrant("a").commitFails(deadlock);
        ScriptedUnit second = store.thenGrant("b");
        List<Object> seen = new ArrayList<>();
        inbox.process(CONSUMER, MESSAGE, tx -> {
            assertThat(tx.message()).isSameAs(MESSAGE);
            assertThat(tx.consumer()).isEqualTo("billing");
            return seen.addAll(List.of(tx.connection(), tx.dataSource()));
        });
        assertThat(seen).hasSize(4);
        assertThat(seen.get(0)).isSameAs(first.connection);
        assertThat(seen.get(1)).isSameAs(first.dataSource);
        assertThat(seen.get(2)).isSameAs(second.connection);
        assertThat(seen.get(3)).isSameAs(second.dataSource);
    }

    @Test
    void processThrowsTheLastFailureWhenTheRunsAreUsedUp() {
        Consumer three = with(Policy.defaults().withMaxRuns(3));
        store.thenFail(new TransientStoreException("1", null));
        store.thenFail(new TransientStoreException("2", null)).thenFail(deadlock);
        assertThatThrownBy(() -> inbox.process(three, MESSAGE, tx -> "r")).isSameAs(deadlock);
        assertThat(events()).containsExactly("ranAgain 1", "ranAgain 1", "Failed INFRASTRUCTURE");
    }

    @Test
    void processThrowsTheHandlersOwnExceptionWhenTheRunsAreUsedUp() {
        Consumer two = with(Policy.defaults().withMaxRuns(2));
        store.thenGrant("a");
        store.thenGrant("b");
        SQLTransientException last = new SQLTransientException("last");
        assertThatThrownBy(() -> inbox.process(two, MESSAGE, tx -> {
                    throw tx.run() == 2 ? last : new SQLTransientException("first");
                }))
                .isSameAs(last);
        assertThat(store.calls).containsExactly("claim", "rollback", "close", "claim", "rollback", "close");
    }

    @Test
    void claimsThatFailedUseUpRunsAsWell() {
        Consumer two = with(Policy.defaults().withMaxRuns(2));
        SQLTransientException last = new SQLTransientException("last");
        store.thenFail(deadlock).thenGrant("a");
        assertThatThrownBy(() -> inbox.process(two, MESSAGE, tx -> {
                    throw last;
                }))
                .isSameAs(last);
    }

    @Test
    @DisplayName("RO-02 accept calls it an infrastructure failure, which comes again and never counts")
    void acceptAnswersWithAnInfrastructureFailure() {
        Policy two = Policy.defaults().withMaxRuns(2);
        store.thenFail(deadlock).thenFail(deadlock);
        Outcome<?> outcome = inbox.accept(handling(two, (event, tx) -> event), MESSAGE);
        assertThat(outcome).isEqualTo(new Outcome.Failed<>(Failure.INFRASTRUCTURE, deadlock));
        assertThat(outcome.settlement()).isEqualTo(Settlement.RETRY);
    }

    @Test
    void aFailureThatDoesNotPassIsNotTriedAgain() {
        StoreException down = new StoreException("no such table", new SQLException("42P01"));
        store.thenFail(down);
        assertThatThrownBy(() -> inbox.process(CONSUMER, MESSAGE, tx -> "r")).isSameAs(down);
        assertThat(store.calls).containsExactly("claim");
    }

    @Test
    @DisplayName("HX-03 an interrupt ends the waiting, restores the flag and is nobody's failed attempt")
    void anInterruptEndsTheWaiting() {
        store.thenFail(deadlock);
        Thread.currentThread().interrupt();
        Outcome<?> outcome = inbox.accept(handling((event, tx) -> event), MESSAGE);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.kind()).isEqualTo(Failure.INFRASTRUCTURE));
    }
}
