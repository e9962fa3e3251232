package dev.idem.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("quick")
class DemoPlanTest {
    @Test
    void sameSeedGivesTheSamePlan() {
        assertThat(DemoPlan.of(42, 500, 30, 5)).isEqualTo(DemoPlan.of(42, 500, 30, 5));
        assertThat(DemoPlan.of(42, 500, 30, 5)).isNotEqualTo(DemoPlan.of(43, 500, 30, 5));
    }

    @Test
    void everyPaymentIsPublishedAndTheAskedShareMoreThanOnce() {
        DemoPlan plan = DemoPlan.of(1, 2_000, 30, 0);

        assertThat(plan.publications()).filteredOn(p -> p.copy() == 0).hasSize(2_000);
        assertThat(plan.publications()).filteredOn(p -> p.copy() == 1).hasSizeBetween(500, 700);
        assertThat(plan.payments()).extracting(Payment::id).doesNotHaveDuplicates();
        assertThat(DemoPlan.of(1, 100, 0, 0).publications()).hasSize(100);
        assertThat(DemoPlan.of(1, 100, 100, 0).publications()).hasSizeGreaterThanOrEqualTo(200);
    }

    @Test
    void killsAreSpreadAndTheFirstHitsBetweenCommitAndAcknowledgement() {
        DemoPlan plan = DemoPlan.of(1, 1_000, 30, 6);

        assertThat(plan.kills())
                .hasSize(6)
                .extracting(Kill::afterSettled)
                .isSorted()
                .doesNotHaveDuplicates();
        assertThat(plan.kills())
                .extracting(Kill::window)
                .startsWith(CrashWindow.BEFORE_ACK, CrashWindow.AFTER_EFFECT, CrashWindow.NONE);
        assertThat(DemoPlan.of(1, 3, 30, 3).kills()).hasSize(3);
    }

    @Test
    void troublesAreTheSameInAllCopiesAndOnePaymentIsDeclined() {
        DemoPlan plan = DemoPlan.of(1, 1_000, 30, 0).withTroubles(1);

        assertThat(plan).isEqualTo(DemoPlan.of(1, 1_000, 30, 0).withTroubles(1));
        assertThat(plan.declined()).hasSize(1);
        assertThat(plan.publications())
                .filteredOn(p -> p.trouble() == Trouble.FAILS_FIRST)
                .hasSizeBetween(20, 70);
        assertThat(plan.publications())
                .filteredOn(p -> plan.declined().contains(p.payment()))
                .extracting(Publication::trouble)
                .containsOnly(Trouble.DECLINED);
        assertThat(DemoPlan.of(1, 1_000, 30, 0).declined()).isEmpty();
    }
}
