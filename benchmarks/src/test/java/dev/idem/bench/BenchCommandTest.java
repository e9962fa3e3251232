package dev.idem.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.bench.load.Measurement;
import dev.idem.bench.load.Workload;
import dev.idem.bench.report.Comparison;
import dev.idem.bench.report.Report;
import dev.idem.bench.report.Row;
import dev.idem.bench.report.Target;
import dev.idem.servers.RabbitServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class BenchCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    Path directory;

    private int run(String... args) {
        CommandLine idem = dev.idem.cli.Main.commandLine(new BenchCommand());
        idem.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        return idem.execute(args);
    }

    @Test
    void measuresInlineAndWritesEverything() throws Exception {
        Path json = directory.resolve("result.json");

        int code = run(
                "bench",
                "inline",
                "--rounds",
                "1",
                "--seconds",
                "0.02",
                "--json",
                json.toString(),
                "--out",
                directory.toString());

        assertThat(code).as(err.toString()).isZero();
        Report report = Report.parse(Files.readString(json));
        assertThat(report.bench()).isEqualTo("inline");
        assertThat(report.cases())
                .filteredOn(row -> row.contender().equals("idem"))
                .hasSize(6 * 5);
        assertThat(report.versions())
                .containsKeys("idem", "postgresql", "camel")
                .doesNotContainValue("");
        assertThat(report.machine().durability()).contains("fsync=on", "synchronous_commit=on");
        assertThat(directory.resolve("inline.svg")).isNotEmptyFile();
        assertThat(out.toString()).contains("Targets", "idem ≥ 0.95 x hand");
        assertThat(err.toString()).contains("round 1 of 1");
    }

    @Test
    void comparesStoredMessagesByTheirLatencyToo() {
        List<Row> rows = new Comparison(
                        new Workload("queue-latency", 4, 0, 1),
                        Map.of(
                                "inline", List.of(new Measurement(60, 1_000, 2_000)),
                                "idem", List.of(new Measurement(60, 1_500, 5_000))))
                .latencies("queue-latency-p50", List.of("idem"), List.of("inline"), Measurement::p50Micros);

        assertThat(rows).singleElement().satisfies(row -> {
            assertThat(row.ratio()).isEqualTo(1.5);
            assertThat(row.p99Micros()).isEqualTo(5_000);
        });
        assertThat(new QueueBench().targets(new Settings(false, 1, Duration.ofSeconds(1))))
                .extracting(Target::name)
                .contains("queue-drain", "queue-latency-p99", "queue-store", "queue-claim-at-1000000");
    }

    @Test
    void brokersAreMeasuredBesideTheirOwnClients() {
        var settings = new Settings(false, 1, Duration.ofSeconds(1));

        assertThat(BenchKind.KAFKA.bench().targets(settings))
                .contains(
                        Target.atLeast("kafka", "idem-watermark", 0.85, "floor"),
                        Target.atLeast("kafka", "idem-marker", 0.5, "floor"),
                        Target.atLeast("kafka", "idem-batch", 15, "hand"));
        assertThat(BenchKind.RABBITMQ.bench().targets(settings))
                .contains(Target.atLeast("rabbitmq", "idem-marker", 0.5, "floor"))
                .noneMatch(target -> target.contender().equals("idem-watermark"));
        assertThat(BenchKind.ALL.parts()).contains(BenchKind.INLINE, BenchKind.KAFKA);
        assertThat(BenchKind.ALL.parts().contains(BenchKind.RABBITMQ)).isEqualTo(RabbitServer.available());
        assertThat(BenchKind.RABBITMQ.parts()).containsExactly(BenchKind.RABBITMQ);
    }

    @Test
    void explainsItself() {
        assertThat(run("bench", "--help")).isZero();
        assertThat(out.toString())
                .contains("Usage: idem bench", "inline", "queue", "kafka", "rabbitmq", "Examples:", "Exit codes:");
    }

    @Test
    void refusesWhatItDoesNotKnow() {
        assertThat(run("bench", "nonsense")).isEqualTo(2);
        assertThat(run("bench", "inline", "--rounds", "0")).isEqualTo(2);
        assertThat(run("bench", "kafka", "--seconds", "0")).isEqualTo(2);
        assertThat(err.toString()).contains("nonsense", "--rounds must be between 1 and", "--seconds must be above 0");
    }

    @Test
    void saysWhenTheDatabaseCannotBeReached() {
        assertThat(run("bench", "inline", "--db", "jdbc:postgresql://127.0.0.1:1/none", "--out", directory.toString()))
                .isEqualTo(3);
        assertThat(err.toString()).contains("address of --db", "127.0.0.1:1");
    }
}
