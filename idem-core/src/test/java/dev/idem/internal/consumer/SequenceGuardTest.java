package dev.idem.internal.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.FakeBatchStore;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Sequence;
import dev.idem.spi.StreamVersion;
import dev.idem.spi.Streams;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SequenceGuardTest {
    private static final Sequence FROM_ONE =
            Sequence.by(Message::orderingKey, Sequence.header("version")).startingAt(Sequence.Start.at(1));

    /** What is committed. */
    private static final class Memory implements Streams {
        private final Map<String, Long> current = new HashMap<>();

        @Override
        public Map<String, OptionalLong> lock(Collection<String> streams, Duration wait) {
            Map<String, OptionalLong> locked = new HashMap<>();
            streams.forEach(stream -> locked.put(
                    stream, current.containsKey(stream) ? OptionalLong.of(current.get(stream)) : OptionalLong.empty()));
            return locked;
        }

        @Override
        public void move(Map<String, Long> applied) {
            current.putAll(applied);
        }
    }

    @Test
    @DisplayName("RO-09 all orders of up to 7 versions, each with every repetition at every place, in one and in many"
            + " transactions")
    void everyOrder() {
        int orders = 0;
        for (int versions = 1; versions <= 7; versions++) {
            for (List<Long> order : orders(versions)) {
                for (long repeated = 1; repeated <= versions; repeated++) {
                    int place = (int) ((orders + repeated) % (versions + 1)); // at every place, in one order or another
                    List<Long> deliveries = new ArrayList<>(order);
                    deliveries.add(place, repeated);
                    for (int together : new int[] {1, 3}) {
                        if (!applied(deliveries, together).equals(upTo(versions))) {
                            throw new AssertionError(deliveries + " in lists of " + together);
                        }
                    }
                    orders++;
                }
            }
        }
        assertThat(orders).isGreaterThan(7 * 5040);
    }

    /** Delivers lists of so many messages, each a transaction, and again what is held, until nothing is left. */
    private static List<Long> applied(List<Long> deliveries, int together) {
        Memory memory = new Memory();
        List<Long> applied = new ArrayList<>();
        List<Long> waiting = deliveries;
        long model = 0;
        while (!waiting.isEmpty()) {
            List<Long> again = new ArrayList<>();
            for (int from = 0; from < waiting.size(); from += together) {
                List<Long> list = waiting.subList(from, Math.min(waiting.size(), from + together));
                SequenceGuard guard = new SequenceGuard(new SequencePlan(FROM_ONE, false), memory);
                guard.lock(list.stream().map(v -> new StreamVersion("s", v)).toList(), Duration.ZERO);
                List<StreamVersion> kept = new ArrayList<>();
                for (long version : list) {
                    StreamVersion place = new StreamVersion("s", version);
                    SequenceGuard.Verdict verdict = guard.judge(place);
                    boolean expected;
                    if (version == model + 1) {
                        expected = verdict instanceof SequenceGuard.Verdict.Apply;
                        model = version;
                        applied.add(version);
                        kept.add(place);
                    } else if (version <= model) {
                        expected = verdict instanceof SequenceGuard.Verdict.Stale
                                || verdict instanceof SequenceGuard.Verdict.Repeated;
                    } else {
                        expected = verdict.equals(new SequenceGuard.Verdict.Ahead(model + 1));
                        again.add(version);
                    }
                    if (!expected) { // plain, for there are a million of them
                        throw new AssertionError(deliveries + ": " + version + " is " + verdict + " behind " + model);
                    }
                }
                guard.move(kept);
                if (memory.current.get("s") != model) {
                    throw new AssertionError(deliveries + " left " + memory.current);
                }
            }
            waiting = again;
        }
        return applied;
    }

    private static List<Long> upTo(int versions) {
        List<Long> all = new ArrayList<>();
        for (long version = 1; version <= versions; version++) {
            all.add(version);
        }
        return all;
    }

    private static List<List<Long>> orders(int versions) {
        List<List<Long>> orders = new ArrayList<>(List.of(List.of()));
        for (long version = 1; version <= versions; version++) {
            List<List<Long>> longer = new ArrayList<>();
            for (List<Long> order : orders) {
                for (int place = 0; place <= order.size(); place++) {
                    List<Long> with = new ArrayList<>(order);
                    with.add(place, version);
                    longer.add(with);
                }
            }
            orders = longer;
        }
        return orders;
    }

    @Test
    @DisplayName("a repetition of what the same transaction applies is not stale before that has committed")
    void repetitionsAreProvisional() {
        SequenceGuard guard = new SequenceGuard(new SequencePlan(FROM_ONE, false), new Memory());
        StreamVersion first = new StreamVersion("s", 1);
        guard.lock(List.of(first), Duration.ZERO);
        assertThat(guard.judge(first)).isInstanceOf(SequenceGuard.Verdict.Apply.class);
        assertThat(guard.judge(first)).isInstanceOf(SequenceGuard.Verdict.Repeated.class);
        assertThat(guard.judge(new StreamVersion("s", 0))).isEqualTo(new SequenceGuard.Verdict.Stale(0));
        assertThat(guard.judge(new StreamVersion("other", 1))).isInstanceOf(SequenceGuard.Verdict.Busy.class);
    }

    @Test
    void theLargestVersionIsAVersionLikeAnyOther() {
        Memory memory = new Memory();
        memory.current.put("s", Long.MAX_VALUE - 1);
        SequenceGuard guard = new SequenceGuard(new SequencePlan(FROM_ONE, false), memory);
        StreamVersion last = new StreamVersion("s", Long.MAX_VALUE);
        guard.lock(List.of(last), Duration.ZERO);
        assertThat(guard.judge(last)).isInstanceOf(SequenceGuard.Verdict.Apply.class);
        assertThat(guard.judge(last)).isInstanceOf(SequenceGuard.Verdict.Repeated.class);
    }

    @Test
    void aSequenceRefusesWhatContradictsIt() {
        Handler<Message, String> handler = (message, tx) -> "";
        assertThatThrownBy(() -> Consumer.named("c")
                        .sequence(FROM_ONE)
                        .watermark()
                        .otherwise(handler)
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a sequence and a watermark");
        assertThatThrownBy(() -> Consumer.named("c")
                        .sequence(FROM_ONE)
                        .queued(QueuePolicy.inTransaction().withOrderByKey())
                        .otherwise(handler)
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("orders its queue by key");
        assertThatThrownBy(() -> Consumer.named("c")
                        .sequence(FROM_ONE)
                        .policy(Policy.defaults().withObserveOnly())
                        .otherwise(handler)
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("only observes");
        assertThatThrownBy(() -> FROM_ONE.gapDeadline(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("a store that keeps no sequences refuses a consumer that has one, by name")
    void storesWithout() {
        try (Inbox inbox = Inbox.create(new FakeBatchStore())) {
            Consumer consumer = Consumer.named("balance")
                    .sequence(FROM_ONE)
                    .otherwise((message, tx) -> "")
                    .build();
            assertThatThrownBy(() -> inbox.register(consumer))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("balance");
        }
    }
}
