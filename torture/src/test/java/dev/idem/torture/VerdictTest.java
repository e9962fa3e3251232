package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The checker can fail: each of its numbers is seen to move. */
@Tag("quick")
class VerdictTest {
    private static final Item FREE = new Item(0, Mode.LOCAL, 0, 0, Item.Nature.PLAIN);
    private static final Item FIRST = new Item(1, Mode.LEASED_ORDERED, 7, 1, Item.Nature.FLAKY);
    private static final Item SECOND = new Item(2, Mode.LEASED_ORDERED, 7, 2, Item.Nature.PLAIN);
    private static final Item POISON = new Item(3, Mode.LEASED_ORDERED, 7, 3, Item.Nature.POISON);
    private static final Item BEHIND = new Item(4, Mode.LEASED_ORDERED, 7, 4, Item.Nature.PLAIN);
    private static final Item CHARGED = new Item(5, Mode.STEPS, 0, 0, Item.Nature.PLAIN);
    private static final Item PARKING = new Item(6, Mode.STEPS, 0, 0, Item.Nature.PLAIN);
    private static final Verdict.Call CALL = new Verdict.Call(5, "a", 1);
    private static final List<Item> ITEMS = List.of(FREE, FIRST, SECOND, POISON, BEHIND, CHARGED, PARKING);
    private static final Plan PLAN = new Plan(ITEMS, List.of(ITEMS), Set.of(BEHIND));
    private static final List<Verdict.Effect> RIGHT =
            List.of(effect(FREE, 0), effect(FIRST, 0), effect(SECOND, 1), effect(CHARGED, 0));

    @Test
    void flawlessWhenEveryMessageHasItsEffectInOrder() {
        assertThat(judged(RIGHT)).isEqualTo(new Verdict(0, 0, 0, 0)).matches(Verdict::isFlawless);
    }

    @Test
    void lostWhenAcknowledgedWithoutEffect() {
        assertThat(judged(RIGHT.subList(1, 4))).isEqualTo(new Verdict(1, 0, 0, 0));
        assertThat(Verdict.of(PLAN, Set.of(FIRST, SECOND), Set.of(), facts(RIGHT.subList(1, 3))))
                .matches(Verdict::isFlawless);
    }

    @Test
    void doubledWhenThereIsMoreThanOneEffectOrOneOfAMessageThatAlwaysFails() {
        assertThat(judged(with(effect(FREE, 0)))).isEqualTo(new Verdict(0, 1, 0, 0));
        assertThat(judged(with(effect(POISON, 2)))).isEqualTo(new Verdict(0, 1, 0, 0));
    }

    @Test
    void outOfOrderWhenAnotherCameBetweenOrAParkedOneWasOvertaken() {
        assertThat(judged(List.of(effect(FREE, 0), effect(FIRST, 2), effect(SECOND, 0), effect(CHARGED, 0))))
                .isEqualTo(new Verdict(0, 0, 0, 2));
        assertThat(judged(with(effect(BEHIND, 3)))).isEqualTo(new Verdict(0, 0, 0, 1));
    }

    @Test
    void lostWhenItsCallIsMissing() {
        assertThat(judged(RIGHT, List.of())).isEqualTo(new Verdict(1, 0, 0, 0));
    }

    @Test
    void aProviderThatKnowsKeysMayBeCalledAgainByAnotherRunWithTheSameKey() {
        assertThat(judged(RIGHT, List.of(CALL, call(CHARGED, "a", 2)))).matches(Verdict::isFlawless);
        assertThat(judged(RIGHT, List.of(CALL, CALL))).isEqualTo(new Verdict(0, 0, 1, 0));
        assertThat(judged(RIGHT, List.of(CALL, call(CHARGED, "b", 2)))).isEqualTo(new Verdict(0, 0, 1, 0));
    }

    @Test
    void aProviderThatKnowsNoKeysMustNotBeCalledAgain() {
        assertThat(judged(with(effect(PARKING, 0)), List.of(CALL, call(PARKING, "p", 1))))
                .matches(Verdict::isFlawless);
        assertThat(judged(with(effect(PARKING, 0)), List.of(CALL, call(PARKING, "p", 1), call(PARKING, "p", 2))))
                .isEqualTo(new Verdict(0, 0, 1, 0));
    }

    @Test
    void whatIsHalfDoneMayBeParkedWhenItsHandlerHasChangedAndIsNeverLost() {
        Item changed = new Item(0, Mode.STEPS, 0, 0, Item.Nature.CHANGED);
        Plan plan = new Plan(List.of(changed), List.of(List.of(changed)), Set.of());
        Verdict.Facts none = new Verdict.Facts(List.of(), List.of(), List.of());

        assertThat(Verdict.of(plan, Set.of(changed), Set.of(0), none)).matches(Verdict::isFlawless);
        assertThat(Verdict.of(plan, Set.of(changed), Set.of(), none)).isEqualTo(new Verdict(1, 0, 0, 0));
    }

    @Test
    void aRacedKeyIsInTheOrderOfTheNumbersInTheQueue() {
        Item one = new Item(0, Mode.LOCAL_ORDERED, 2, 1, Item.Nature.PLAIN);
        Item two = new Item(1, Mode.LOCAL_ORDERED, 2, 2, Item.Nature.PLAIN);
        Plan plan = new Plan(List.of(one, two), List.of(List.of(one), List.of(two)), Set.of());
        List<Verdict.Effect> secondFirst = List.of(effect(two, 0), effect(one, 2));

        assertThat(Verdict.of(plan, Set.of(), Set.of(), new Verdict.Facts(secondFirst, List.of(), List.of(1, 0))))
                .matches(Verdict::isFlawless);
        assertThat(Verdict.of(plan, Set.of(), Set.of(), new Verdict.Facts(secondFirst, List.of(), List.of(0, 1))))
                .isEqualTo(new Verdict(0, 0, 0, 2));
    }

    private static Verdict judged(List<Verdict.Effect> effects) {
        return judged(effects, List.of(CALL));
    }

    private static Verdict judged(List<Verdict.Effect> effects, List<Verdict.Call> calls) {
        Set<Item> accepted = new HashSet<>(ITEMS);
        accepted.removeIf(item -> item == PARKING && effects.stream().noneMatch(e -> e.number() == 6));
        return Verdict.of(PLAN, accepted, Set.of(), new Verdict.Facts(effects, calls, List.of()));
    }

    private static Verdict.Facts facts(List<Verdict.Effect> effects) {
        return new Verdict.Facts(effects, List.of(), List.of());
    }

    private static Verdict.Call call(Item item, String key, long fence) {
        return new Verdict.Call(item.number(), key, fence);
    }

    private static List<Verdict.Effect> with(Verdict.Effect one) {
        List<Verdict.Effect> effects = new ArrayList<>(RIGHT);
        effects.add(one);
        return effects;
    }

    private static Verdict.Effect effect(Item item, int previous) {
        return new Verdict.Effect(item.number(), previous);
    }
}
