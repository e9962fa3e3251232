package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The checker of dead letters can fail. */
class LettersTest {
    private static final Item PLAIN = new Item(0, Mode.INLINE, 0, 0, Item.Nature.PLAIN);
    private static final Item POISON = new Item(1, Mode.INLINE, 0, 0, Item.Nature.POISON);
    private static final Item TERMINAL = new Item(2, Mode.INLINE, 0, 0, Item.Nature.TERMINAL);
    private static final List<Item> ITEMS = List.of(PLAIN, POISON, TERMINAL);
    private static final Plan PLAN = new Plan(ITEMS, List.of(ITEMS), Set.of());
    private static final Set<Item> ALL = Set.copyOf(ITEMS);

    @Test
    void flawlessWhenEveryPoisonousMessageHasALetterOnceOrTwice() {
        assertThat(Letters.of(PLAN, ALL, List.of(POISON, TERMINAL, POISON))).isEqualTo(new Letters(3, 0, 0));
    }

    @Test
    void lostWithoutALetterIfTheBrokerHasConfirmedTheMessage() {
        assertThat(Letters.of(PLAN, ALL, List.of(POISON))).isEqualTo(new Letters(1, 1, 0));
        assertThat(Letters.of(PLAN, Set.of(POISON), List.of(POISON))).isEqualTo(new Letters(1, 0, 0));
    }

    @Test
    void astrayIfTheMessageShouldHaveItsEffect() {
        assertThat(Letters.of(PLAN, ALL, List.of(POISON, TERMINAL, PLAIN))).isEqualTo(new Letters(3, 0, 1));
    }
}
