package dev.idem.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.bench.load.Measurement;
import dev.idem.bench.load.Workload;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ComparisonTest {
    private static final Workload WORKLOAD = new Workload("inline", 4, 50, 1);

    private final Comparison comparison = new Comparison(
            WORKLOAD,
            Map.of(
                    "hand", measured(100, 110, 120),
                    "camel", measured(50, 55, 60),
                    "tram", measured(80, 88, 96),
                    "idem", measured(40, 44, 48)));

    private static List<Measurement> measured(double... rates) {
        return java.util.Arrays.stream(rates)
                .mapToObj(rate -> new Measurement(rate, 500 / rate, 1_000 / rate))
                .toList();
    }

    @Test
    void everyContenderIsPutBesideEveryReferenceButItself() {
        List<Row> rows = comparison.rates(List.of("hand", "idem"), List.of("hand", "camel"), List.of());

        assertThat(rows)
                .extracting(row -> row.contender() + "/" + row.reference())
                .containsExactly("hand/camel", "idem/hand", "idem/camel");
        assertThat(rows.get(1).ratio()).isEqualTo(0.4);
        assertThat(rows.get(1).perSecond()).isEqualTo(44);
    }

    @Test
    void theBestPeerIsTheOneWithTheHighestMedian() {
        List<Row> rows = comparison.rates(
                List.of("idem", "tram"), List.of(Comparison.BEST_PEER), List.of("camel", "tram", "absent"));

        assertThat(rows).singleElement().satisfies(row -> {
            assertThat(row.reference()).isEqualTo("best-peer");
            assertThat(row.ratio()).isEqualTo(0.5);
        });
    }

    @Test
    void whatIsNotMeasuredIsLeftOut() {
        assertThat(comparison.rates(List.of("idem"), List.of("absent", Comparison.BEST_PEER), List.of("absent")))
                .isEmpty();
    }

    @Test
    void costsAndLatenciesGrowWhenTheContenderIsSlower() {
        assertThat(comparison.cost("cost", "idem", "hand").ratio()).isEqualTo(2.5);
        assertThat(comparison.p99("p99", "idem", "hand").ratio()).isEqualTo(2.5);
    }
}
