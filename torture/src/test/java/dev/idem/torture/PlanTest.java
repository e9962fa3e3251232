package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("quick")
class PlanTest {
    private static final Plan PLAN = Plan.of(42, 5_000);

    @Test
    void sameSeedGivesTheSamePlan() {
        assertThat(Plan.of(42, 500)).isEqualTo(Plan.of(42, 500));
        assertThat(Plan.of(42, 500)).isNotEqualTo(Plan.of(43, 500));
    }

    @Test
    void everyMessageIsPublishedAndThirtyPercentOfTheStreamAreDuplicates() {
        List<Item> stream = PLAN.lanes().stream().flatMap(List::stream).toList();

        assertThat(new HashSet<>(stream)).hasSameElementsAs(PLAN.items()).hasSize(5_000);
        assertThat(stream.size() - 5_000).isGreaterThan(stream.size() * 30 / 100);
    }

    @Test
    void messagesOfAKeyAreFirstPublishedInOrderAndInOneLane() {
        for (List<Item> lane : PLAN.lanes()) {
            Set<Item> seen = new HashSet<>();
            for (Item item : lane) {
                if (item.mode().isOrdered() && !item.isRaced() && seen.add(item) && item.seq() > 1) {
                    assertThat(seen)
                            .anyMatch(earlier -> earlier.mode() == item.mode()
                                    && earlier.key() == item.key()
                                    && earlier.seq() == item.seq() - 1);
                }
            }
        }
    }

    @Test
    void messagesOfARacedKeyAreInSeveralLanesAndNoneOfThemIsParked() {
        List<Item> raced = PLAN.items().stream().filter(Item::isRaced).toList();

        assertThat(raced).isNotEmpty().allMatch(PLAN::hasEffect);
        assertThat(PLAN.lanes().stream()
                        .filter(lane -> lane.stream()
                                .anyMatch(item -> item.isRaced()
                                        && item.mode() == raced.get(0).mode()
                                        && item.key() == raced.get(0).key())))
                .hasSizeGreaterThan(1);
    }

    @Test
    void moreLargeMessagesWaitAtFirstThanAWorkerCanHold() {
        assertThat(PLAN.backlog()).hasSizeGreaterThan(40);
    }

    @Test
    void whatComesBehindAParkedMessageOfItsKeyHasNoEffect() {
        assertThat(PLAN.parked()).isPositive();
        assertThat(PLAN.blocked()).isNotEmpty().noneMatch(PLAN::hasEffect);
        assertThat(PLAN.blocked())
                .allMatch(item -> PLAN.items().stream()
                        .anyMatch(head -> head.nature().isParked()
                                && head.mode() == item.mode()
                                && head.key() == item.key()
                                && head.seq() < item.seq()));
    }

    @Test
    void aPlanForABrokerHasDuplicatesInTheLaneOfTheirKeyAndParksNothing() {
        Plan plan = Plan.inline(42, 5_000, true, 6, false);

        assertThat(plan.lanes()).hasSize(6).doesNotContain(List.of());
        assertThat(plan.publications() - 5_000).isGreaterThan(plan.publications() * 30 / 100);
        assertThat(plan.items()).allMatch(plan::hasEffect).allMatch(item -> item.mode() == Mode.INLINE_ORDERED);
        for (int lane = 0; lane < 6; lane++) {
            int number = lane;
            assertThat(plan.lanes().get(lane)).allMatch(item -> item.key() % 6 == number);
        }
    }

    @Test
    void withoutAQueueTheOthersOfAKeyGoOnBehindAPoisonousMessageAsIfItWereNotThere() {
        Plan plan = Plan.inline(42, 5_000, true, 6, true);

        assertThat(plan.parked()).isBetween(10, 50);
        assertThat(plan.effects()).isEqualTo(5_000 - plan.parked());
        assertThat(plan.blocked()).isEmpty();
        Map<Integer, Integer> last = new HashMap<>();
        for (Item item : plan.items()) {
            if (plan.hasEffect(item)) {
                assertThat(item.seq()).isEqualTo(last.merge(item.key(), 1, Integer::sum));
            } else {
                assertThat(item.seq()).isEqualTo(Math.max(1, last.getOrDefault(item.key(), 0)));
            }
        }
    }

    @Test
    void aMessageSurvivesTheWayToTheWorkerAndThroughTheQueue() {
        assertThat(PLAN.items()).allMatch(item -> Item.parse(item.line()).equals(item));
        assertThat(PLAN.items()).allMatch(item -> Item.of(item.toMessage()).equals(item));
    }
}
