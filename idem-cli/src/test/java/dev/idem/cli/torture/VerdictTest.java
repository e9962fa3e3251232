package dev.idem.cli.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The checker can fail: each of its numbers is seen to move. */
class VerdictTest {
    private static final Item FREE = new Item(0, Mode.LOCAL, 0, 0, Item.Nature.PLAIN);
    private static final Item FIRST = new Item(1, Mode.LEASED_ORDERED, 7, 1, Item.Nature.FLAKY);
    private static final Item SECOND = new Item(2, Mode.LEASED_ORDERED, 7, 2, Item.Nature.PLAIN);
    private static final Item POISON = new Item(3, Mode.LEASED_ORDERED, 7, 3, Item.Nature.POISON);
    private static final Item BEHIND = new Item(4, Mode.LEASED_ORDERED, 7, 4, Item.Nature.PLAIN);
    private static final List<Item> ITEMS = List.of(FREE, FIRST, SECOND, POISON, BEHIND);
    private static final Plan PLAN = new Plan(ITEMS, List.of(ITEMS), Set.of(BEHIND));
    private static final List<Verdict.Effect> RIGHT = List.of(effect(FREE, 0), effect(FIRST, 0), effect(SECOND, 1));

    @Test
    void flawlessWhenEveryMessageHasItsEffectInOrder() {
        assertThat(judged(RIGHT)).isEqualTo(new Verdict(0, 0, 0)).matches(Verdict::isFlawless);
    }

    @Test
    void lostWhenAcknowledgedWithoutEffect() {
        assertThat(judged(RIGHT.subList(1, 3))).isEqualTo(new Verdict(1, 0, 0));
        assertThat(Verdict.of(PLAN, Set.of(FIRST, SECOND), RIGHT.subList(1, 3))).matches(Verdict::isFlawless);
    }

    @Test
    void doubledWhenThereIsMoreThanOneEffectOrOneOfAMessageThatAlwaysFails() {
        assertThat(judged(with(effect(FREE, 0)))).isEqualTo(new Verdict(0, 1, 0));
        assertThat(judged(with(effect(POISON, 2)))).isEqualTo(new Verdict(0, 1, 0));
    }

    @Test
    void outOfOrderWhenAnotherCameBetweenOrAParkedOneWasOvertaken() {
        assertThat(judged(List.of(effect(FREE, 0), effect(FIRST, 2), effect(SECOND, 0))))
                .isEqualTo(new Verdict(0, 0, 2));
        assertThat(judged(with(effect(BEHIND, 3)))).isEqualTo(new Verdict(0, 0, 1));
    }

    private static Verdict judged(List<Verdict.Effect> effects) {
        return Verdict.of(PLAN, Set.copyOf(ITEMS), effects);
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
