package dev.idem.jdbc;

import static dev.idem.jdbc.SequenceBench.FROM_ONE;
import static dev.idem.jdbc.SequenceBench.LEASED;
import static dev.idem.jdbc.SequenceBench.TAKEN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Versions in any order, with repetitions, through real databases; each order is a stream of its own. */
class SequencePermutationTest {
    private static final int VERSIONS = 7;

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-09 whatever order versions are stored in, each is applied once, behind the one before it")
    void queued(Database database) throws Exception {
        for (QueuePolicy policy : List.of(TAKEN, LEASED)) {
            try (SequenceBench bench = new SequenceBench(database)) {
                Random random = new Random(42);
                List<List<Message>> streams = orders(random, database == Database.H2 ? 40 : 16);
                streams.forEach(
                        stream -> bench.streams(stream.get(0).orderingKey().orElseThrow()));
                Consumer consumer = bench.queued(policy, FROM_ONE);
                List<Message> mixed = mixed(streams, random);
                int half = mixed.size() / 2;
                for (int from = 0; from < half; from += 50) {
                    bench.inbox.acceptAll(consumer, mixed.subList(from, Math.min(half, from + 50)));
                }
                bench.inbox.start(consumer);
                for (int from = half; from < mixed.size(); from += 50) { // also while workers run
                    assertThat(bench.inbox.acceptAll(consumer, mixed.subList(from, Math.min(mixed.size(), from + 50))))
                            .allMatch(Outcome.Stored.class::isInstance);
                }
                bench.awaitRows("1 = 1", 0);
                assertThat(bench.db.number("SELECT count(*) FROM chain WHERE version <> " + VERSIONS))
                        .isZero();
                assertThat(bench.inbox.gaps("chain")).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-09 whatever order a broker delivers in, in lists of any length, each version is applied once, in order")
    void inline(Database database) {
        try (SequenceBench bench = new SequenceBench(database)) {
            Random random = new Random(7);
            List<List<Message>> streams = orders(random, database == Database.H2 ? 80 : 16);
            streams.forEach(stream -> bench.streams(stream.get(0).orderingKey().orElseThrow()));
            Consumer consumer = bench.inline(FROM_ONE);
            List<Message> waiting = mixed(streams, random);
            for (int round = 0; !waiting.isEmpty() && round < 20; round++) {
                List<Message> again = new ArrayList<>();
                for (int from = 0; from < waiting.size(); ) {
                    int to = Math.min(waiting.size(), from + 1 + random.nextInt(60));
                    List<Message> list = waiting.subList(from, to);
                    List<Outcome<?>> outcomes = bench.inbox.acceptAll(consumer, list);
                    for (int i = 0; i < list.size(); i++) {
                        assertThat(outcomes.get(i))
                                .isInstanceOfAny(
                                        Outcome.Processed.class,
                                        Outcome.Held.class,
                                        Outcome.Stale.class,
                                        Outcome.Duplicate.class);
                        if (outcomes.get(i).settlement() == Settlement.RETRY) {
                            again.add(list.get(i));
                        }
                    }
                    from = to;
                }
                waiting = again;
            }
            assertThat(waiting).isEmpty();
            assertThat(bench.db.number("SELECT count(*) FROM chain WHERE version <> " + VERSIONS))
                    .isZero();
        }
    }

    /** Random orders of all versions, each with one to three repetitions under other ids. */
    private static List<List<Message>> orders(Random random, int count) {
        List<List<Message>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            List<Message> one = new ArrayList<>();
            for (int version = 1; version <= VERSIONS; version++) {
                one.add(SequenceBench.message("s" + i, version));
            }
            for (int more = random.nextInt(3); more >= 0; more--) {
                one.add(SequenceBench.message("s" + i, 1 + random.nextInt(VERSIONS), "again" + more));
            }
            Collections.shuffle(one, random);
            all.add(one);
        }
        return all;
    }

    private static List<Message> mixed(List<List<Message>> streams, Random random) {
        List<Message> mixed = new ArrayList<>();
        List<List<Message>> rest = new ArrayList<>();
        streams.forEach(stream -> rest.add(new ArrayList<>(stream)));
        while (!rest.isEmpty()) {
            List<Message> one = rest.get(random.nextInt(rest.size()));
            mixed.add(one.remove(0));
            rest.removeIf(List::isEmpty);
        }
        return mixed;
    }
}
