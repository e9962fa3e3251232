package dev.idem.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SummaryTest {
    private static final List<Row> ROWS = List.of(
            new Row("inline", 4, 50, 1, "hand", "floor", 0.71234, 0.6, 0.8, 1234.56),
            new Row("inline", 4, 50, 1, "idem", "floor", 0.68, 0.6, 0.7, 1200),
            new Row("inline", 4, 50, 1, "idem", "hand", 0.96, 0.9, 1.1, 1200));
    private static final Machine MACHINE = new Machine(2, 24, "Linux", "17", "ext4", 400.0, 30, "fsync=on");
    private static final Report REPORT = new Report("inline", MACHINE, Map.of("idem", "1"), ROWS);

    @Test
    void jsonHasExactlyTheAgreedNames() {
        JsonNode json = JsonMapper.builder().build().readTree(REPORT.json());

        assertThat(json.propertyNames()).containsExactly("bench", "machine", "versions", "cases");
        assertThat(json.get("cases").get(0).propertyNames())
                .containsExactly(
                        "case",
                        "threads",
                        "duplicates",
                        "batch",
                        "contender",
                        "reference",
                        "ratio",
                        "low",
                        "high",
                        "perSecond");
        assertThat(json.get("cases").get(0).get("ratio").asDouble()).isEqualTo(0.712);
        assertThat(Report.parse(REPORT.json())).isEqualTo(REPORT);
    }

    @Test
    void targetsSayWhatWasReachedAndByHowMuchNot() {
        List<Target> targets = List.of(
                Target.atLeast("inline", "idem", 0.95, "hand"), Target.atLeast("inline", "idem", 0.70, "floor"));

        String text = new Summary(REPORT, targets).text();

        assertThat(text)
                .contains("met     idem ≥ 0.95 x hand (inline; 4 threads, 50 % duplicates): 0.96, range 0.90 to 1.10")
                .contains("MISSED  idem ≥ 0.70 x floor", "0.68", "2.9 % short");
    }

    @Test
    void anUpperBoundIsMissedFromAbove() {
        Target target = Target.atMost("inline", "hand", 0.5, "floor");

        assertThat(target.verdicts(ROWS))
                .singleElement()
                .asString()
                .startsWith("MISSED")
                .endsWith("42.4 % above");
    }

    @Test
    void markdownHasALineForEachContender() {
        assertThat(new Summary(REPORT, List.of()).markdown())
                .contains("| contender | x floor | x hand | per second |")
                .contains("| idem | 0.68 (0.60–0.70) | 0.96 (0.90–1.10) | 1,200 |");
    }

    @Test
    void thePlotIsWellFormed() throws Exception {
        String svg = Plot.svg("ratios < 1 & more", ROWS);

        var document = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
        assertThat(document.getElementsByTagName("rect").getLength()).isEqualTo(1 + ROWS.size());
    }
}
