package dev.idem.bench;

import dev.idem.bench.contender.Broker;
import dev.idem.bench.contender.BrokerContender;
import dev.idem.bench.contender.BrokerContenders;
import dev.idem.bench.contender.KafkaBroker;
import dev.idem.bench.contender.RabbitBroker;
import dev.idem.bench.load.Intake;
import dev.idem.bench.load.Rounds;
import dev.idem.bench.load.Workload;
import dev.idem.bench.report.Comparison;
import dev.idem.bench.report.Row;
import dev.idem.bench.report.Target;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import javax.sql.DataSource;

/**
 * What a message costs on its whole way from a broker into the database.
 *
 * @param name the broker's
 * @param messages for each measurement of whoever gets all of them
 * @param together how many of them the broker's client gives at once
 * @param more what is to be reached besides what every broker has
 */
record BrokerBench(String name, int messages, int together, Supplier<Broker> start, Who contenders, List<Target> more)
        implements Bench {
    private static final int MOST_ROUNDS = 5;
    private static final int MOST_QUICK_ROUNDS = 2;
    private static final int QUICK = 10;

    @FunctionalInterface
    interface Who {
        List<BrokerContender> on(DataSource dataSource) throws SQLException;
    }

    static BrokerBench kafka() {
        return new BrokerBench(
                "kafka",
                200_000,
                500,
                KafkaBroker::start,
                BrokerContenders::withPositions,
                List.of(Target.atLeast("kafka", "idem-watermark", 0.85, "floor")));
    }

    /** Fewer, because the queue is filled for each of them, and has to stay in the memory the broker may use. */
    static BrokerBench rabbitmq() {
        return new BrokerBench("rabbitmq", 100_000, 250, RabbitBroker::start, BrokerContenders::withMarkers, List.of());
    }

    @Override
    public List<Row> run(Lab lab) throws Exception {
        boolean quick = lab.settings().quick();
        int count = quick ? messages / QUICK : messages;
        int rounds =
                Math.min(quick ? MOST_QUICK_ROUNDS : MOST_ROUNDS, lab.settings().rounds());
        var workload = new Workload(name, 1, 0, together);
        lab.progress().accept(name + ": starting the broker");
        try (Broker broker = start.get()) {
            var intake = new Intake(lab.dataSource(), broker);
            Map<String, Rounds.Trial> trials = new LinkedHashMap<>();
            for (BrokerContender contender : contenders.on(lab.dataSource())) {
                trials.put(contender.name(), () -> intake.rate(contender, workload, count));
                lab.progress().accept(name + ": warming up " + contender.name());
                intake.rate(contender, workload, count);
            }
            List<String> names = List.copyOf(trials.keySet());
            var measured = lab.rounds().run(workload, rounds, trials);
            return new Comparison(workload, measured).rates(names, List.of("floor", "hand"), List.of());
        }
    }

    @Override
    public List<Target> targets(Settings settings) {
        List<Target> targets = new ArrayList<>(more);
        for (String markers : List.of("idem-marker", "idem-batch")) {
            targets.add(Target.atLeast(name, markers, 0.5, "floor"));
            targets.add(Target.atLeast(name, markers, 15, "hand"));
        }
        return targets;
    }

    @Override
    public boolean isPlotted(Row row) {
        return row.reference().equals("floor");
    }
}
