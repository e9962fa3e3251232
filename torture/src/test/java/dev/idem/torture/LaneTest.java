package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("quick")
class LaneTest {
    private static final long LATER = 1_000_000_000L;
    private static final List<Item> STREAM = IntStream.range(0, 500)
            .mapToObj(i -> new Item(i, Mode.LOCAL_ORDERED, 1, i + 1, Item.Nature.PLAIN))
            .toList();

    private final Lane lane = new Lane(STREAM, new Random(1));

    @Test
    void nothingMoreIsDeliveredBeforeAllIsAcknowledged() {
        List<Item> first = lane.due(1, 0);
        lane.delivered(1);

        assertThat(lane.due(1, LATER)).isEmpty();
        lane.answered(1, all(first.size()), LATER);
        assertThat(lane.due(1, LATER).get(0)).isEqualTo(STREAM.get(first.size()));
    }

    @Test
    void whatIsNotAcknowledgedComesAgainInOrder() {
        List<Item> first = lane.due(1, 0);
        lane.delivered(1);
        BitSet one = new BitSet();
        one.set(1);

        assertThat(lane.answered(1, one, 0)).isTrue();
        assertThat(lane.due(1, LATER))
                .isEqualTo(first.stream().filter(i -> i.number() != 1).toList());
    }

    @Test
    void anAnswerThatComesTooLateIsNotHeard() {
        List<Item> first = lane.due(1, 0);
        lane.delivered(1);
        lane.lost(1, 0);

        assertThat(lane.answered(1, all(first.size()), 0)).isFalse();
        assertThat(lane.due(1, LATER)).isEqualTo(first);
    }

    @Test
    void endsWhenEverythingIsAcknowledged() {
        for (long tag = 1; !lane.isDone(); tag++) {
            List<Item> due = lane.due(1, tag * LATER);
            lane.delivered(tag);
            lane.answered(tag, all(due.size()), tag * LATER);
        }
        assertThat(lane.due(1, Long.MAX_VALUE)).isEmpty();
    }

    @Test
    void anAnswerThatAKillHasCutOffIsNone() {
        String line = new Answer(12, List.of(true, false)).line();

        assertThat(Answer.parse(line)).contains(new Answer(12, List.of(true, false)));
        for (int length = 0; length < line.length(); length++) {
            assertThat(Answer.parse(line.substring(0, length))).isEmpty();
        }
    }

    private static BitSet all(int count) {
        BitSet bits = new BitSet();
        bits.set(0, count);
        return bits;
    }
}
