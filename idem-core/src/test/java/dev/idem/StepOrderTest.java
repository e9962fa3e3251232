package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.spi.FaultPoint;
import dev.idem.spi.TransientStoreException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** PC-02: the crash tests kill the process at these steps, so each must be where its name says. */
class StepOrderTest extends InboxFixture {

    @Test
    void success() {
        store.thenGrant("c");
        inbox.process(CONSUMER, MESSAGE, tx -> steps.add("handler"));
        assertThat(steps)
                .containsExactly(
                        "BEFORE_CLAIM",
                        "AFTER_CLAIM",
                        "BEFORE_HANDLER",
                        "handler",
                        "AFTER_HANDLER",
                        "BEFORE_COMMIT",
                        "AFTER_COMMIT",
                        "BEFORE_SETTLEMENT");
    }

    @Test
    void failure() {
        store.thenGrant("c");
        assertThatThrownBy(() -> inbox.run("billing", MESSAGE, tx -> {
                    throw new IllegalStateException();
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(steps)
                .containsExactly("BEFORE_CLAIM", "AFTER_CLAIM", "BEFORE_HANDLER", "BEFORE_ROLLBACK", "AFTER_ROLLBACK");
    }

    @Test
    void duplicateAndBusy() {
        store.thenTakenBy("other").thenBusy();
        inbox.process(CONSUMER, MESSAGE, tx -> "r");
        inbox.process(CONSUMER, MESSAGE, tx -> "r");
        assertThat(steps).containsExactly("BEFORE_CLAIM", "BEFORE_SETTLEMENT", "BEFORE_CLAIM", "BEFORE_SETTLEMENT");
    }

    @Test
    void anotherRun() {
        store.thenFail(new TransientStoreException("deadlock", null)).thenTakenBy("other");
        inbox.process(CONSUMER, MESSAGE, tx -> "r");
        assertThat(steps).containsExactly("BEFORE_CLAIM", "BEFORE_RETRY", "BEFORE_CLAIM", "BEFORE_SETTLEMENT");
    }

    @Test
    void everyStepIsReachedAndAHookThatThrowsIsAFailureOfThatStep() {
        Set<FaultPoint> reached = new HashSet<>();
        for (FaultPoint failing : FaultPoint.values()) {
            ScriptedStore own = new ScriptedStore();
            own.thenFail(new TransientStoreException("deadlock", null));
            own.thenGrant("c");
            List<FaultPoint> before = new ArrayList<>();
            IllegalStateException crash = new IllegalStateException(failing.name());
            boolean fails = failing == FaultPoint.BEFORE_ROLLBACK || failing == FaultPoint.AFTER_ROLLBACK;
            try (Inbox hooked = Inbox.builder(own)
                    .steps((step, key) -> {
                        before.add(step);
                        reached.add(step);
                        if (step == failing) {
                            throw crash;
                        }
                    })
                    .build()) {
                assertThatThrownBy(() -> hooked.run("billing", MESSAGE, tx -> {
                            if (fails) {
                                throw new IllegalArgumentException();
                            }
                        }))
                        .isSameAs(crash);
            }
            assertThat(before).contains(failing);
            assertThat(own.calls.contains("commit"))
                    .as("%s: the commit was sent", failing)
                    .isEqualTo(failing == FaultPoint.AFTER_COMMIT || failing == FaultPoint.BEFORE_SETTLEMENT);
            assertThat(own.calls.contains("close"))
                    .as("%s: what was claimed is given back", failing)
                    .isEqualTo(failing != FaultPoint.BEFORE_CLAIM && failing != FaultPoint.BEFORE_RETRY);
        }
        assertThat(reached).containsExactlyInAnyOrder(FaultPoint.values());
    }
}
