package dev.idem.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Delivery;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FeedTest {
    private static List<Delivery> deliveries(Workload workload, int failing) {
        var feed = new Feed(workload, contender(failing), 3, 42);
        return Stream.generate(feed::poll).limit(2_000).flatMap(List::stream).toList();
    }

    private static Contender contender(int failing) {
        return new Contender() {
            @Override
            public String name() {
                return "test";
            }

            @Override
            public void handle(List<Delivery> batch) {}

            @Override
            public List<String> tables() {
                return List.of();
            }

            @Override
            public int failing() {
                return failing;
            }
        };
    }

    @Test
    void duplicatesRepeatWhatWasPolledBefore() {
        Set<String> seen = new HashSet<>();
        for (Delivery delivery : deliveries(new Workload("x", 1, 50, 1), 0)) {
            assertThat(delivery.fresh()).isEqualTo(seen.add(delivery.id()));
        }
        assertThat(seen).hasSizeBetween(900, 1_100);
    }

    @Test
    void aBatchRepeatsOnlyEarlierBatches() {
        var feed = new Feed(new Workload("x", 1, 50, 500), contender(0), 0, 42);
        for (int i = 0; i < 10; i++) {
            List<Delivery> batch = feed.poll();
            Set<String> fresh = new HashSet<>();
            batch.stream().filter(Delivery::fresh).forEach(delivery -> fresh.add(delivery.id()));
            assertThat(batch).filteredOn(delivery -> !delivery.fresh()).noneMatch(d -> fresh.contains(d.id()));
            assertThat(batch).extracting(Delivery::id).doesNotHaveDuplicates();
        }
    }

    @Test
    void everyMessageHasAnOrderOfItsOwn() {
        List<Delivery> deliveries = deliveries(new Workload("x", 1, 0, 1), 0);

        assertThat(deliveries).extracting(Delivery::order).doesNotHaveDuplicates();
        assertThat(deliveries)
                .allMatch(delivery -> UUID.fromString(delivery.id()).version() == 4);
    }

    @Test
    void timeOrderedIdsAreOfVersionSeven() {
        List<Delivery> deliveries = deliveries(new Workload("x", 1, 0, 1, true), 0);

        assertThat(deliveries)
                .allMatch(delivery -> UUID.fromString(delivery.id()).version() == 7);
        assertThat(deliveries)
                .extracting(delivery -> delivery.id().substring(0, 13))
                .isSorted();
    }

    @Test
    void theAskedShareFails() {
        assertThat(deliveries(new Workload("x", 1, 0, 1), 5))
                .filteredOn(Delivery::failing)
                .hasSizeBetween(60, 140);
    }
}
