package dev.idem.bench;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.QueueContender;
import dev.idem.bench.contender.QueueContenders;
import dev.idem.bench.contender.QueueDepth;
import dev.idem.bench.load.Drain;
import dev.idem.bench.load.Measurement;
import dev.idem.bench.load.Rounds;
import dev.idem.bench.load.Workload;
import dev.idem.bench.report.Comparison;
import dev.idem.bench.report.Row;
import dev.idem.bench.report.Target;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What it costs to store messages and to handle them later: how many a second, how soon, and how deep the queue may be. */
final class QueueBench implements Bench {
    private static final String DRAIN = "queue-drain";
    private static final String P50 = "queue-latency-p50";
    private static final String P99 = "queue-latency-p99";
    private static final String STORE = "queue-store";
    private static final String DEEP = "idem";
    private static final int BATCH = 500;
    private static final int CLAIMED = 1_000;
    private static final int PAUSE_MILLIS = 15;
    private static final int MOST_ROUNDS = 5;

    @Override
    public List<Row> run(Lab lab) throws Exception {
        List<Row> rows = new ArrayList<>();
        rows.addAll(drain(lab));
        rows.addAll(latency(lab));
        rows.addAll(store(lab));
        rows.add(claim(lab));
        return rows;
    }

    /** A round of these takes as long as its slowest, whatever the settings say about time. */
    private static int rounds(Lab lab) {
        return Math.min(lab.settings().quick() ? 1 : MOST_ROUNDS, lab.settings().rounds());
    }

    private static List<Row> drain(Lab lab) throws Exception {
        boolean quick = lab.settings().quick();
        int messages = quick ? 8_000 : 50_000;
        var drain = new Drain(lab.dataSource());
        List<QueueContender> contenders = QueueContenders.drain(lab.dataSource());
        List<String> names = contenders.stream().map(QueueContender::name).toList();
        List<String> references = new ArrayList<>(List.of("hand", Comparison.BEST_PEER));
        references.addAll(QueueContenders.PEERS);
        List<Row> rows = new ArrayList<>();
        for (int workers : quick ? new int[] {4} : new int[] {4, 8}) {
            var workload = new Workload(DRAIN, workers, 0, 1);
            Map<String, Rounds.Trial> trials = new LinkedHashMap<>();
            for (QueueContender contender : contenders) {
                trials.put(contender.name(), () -> drain.rate(contender, workload, messages));
                if (rows.isEmpty() && !(quick && contender.share() > 1)) {
                    lab.progress().accept(DRAIN + ": warming up " + contender.name());
                    drain.rate(contender, workload, messages);
                }
            }
            var measured = lab.rounds().run(workload, rounds(lab), trials);
            rows.addAll(new Comparison(workload, measured).rates(names, references, QueueContenders.PEERS));
        }
        return rows;
    }

    private static List<Row> latency(Lab lab) throws Exception {
        int messages = lab.settings().quick() ? 60 : 300;
        lab.progress().accept("queue-latency: jobrunr is left out, for it polls every 5 s at the shortest");
        var drain = new Drain(lab.dataSource());
        var workload = new Workload("queue-latency", 4, 0, 1);
        Map<String, Rounds.Trial> trials = new LinkedHashMap<>();
        for (QueueContender contender : QueueContenders.latency(lab.dataSource())) {
            trials.put(contender.name(), () -> drain.latency(contender, workload, messages, PAUSE_MILLIS));
        }
        List<String> names = List.copyOf(trials.keySet());
        var comparison = new Comparison(workload, lab.rounds().run(workload, rounds(lab), trials));
        List<Row> rows = new ArrayList<>(comparison.latencies(P50, names, names, Measurement::p50Micros));
        rows.addAll(comparison.latencies(P99, names, names, Measurement::p99Micros));
        return rows;
    }

    private static List<Row> store(Lab lab) throws Exception {
        List<Row> rows = new ArrayList<>();
        List<Contender> contenders = QueueContenders.store(lab.dataSource(), BATCH);
        try {
            for (int threads : lab.settings().quick() ? new int[] {1} : new int[] {1, 4}) {
                var workload = new Workload(STORE, threads, 0, BATCH);
                lab.rounds().warmUp(workload, contenders, lab.settings().warmUp());
                rows.addAll(new Comparison(workload, lab.rounds().run(workload, contenders))
                        .rates(List.of("idem-store-batch"), List.of("idem-store-single"), List.of()));
            }
            return rows;
        } finally {
            contenders.forEach(Contender::close);
        }
    }

    private static Row claim(Lab lab) throws Exception {
        int deep = depth(lab.settings());
        int shallow = deep / 100;
        var workload = new Workload(claimed(lab.settings()), 1, 0, 1);
        Map<String, Rounds.Trial> trials = new LinkedHashMap<>();
        for (int depth : new int[] {deep, shallow}) {
            var queue = new QueueDepth(lab.dataSource(), depth == deep ? "deep_" : "shallow_", depth);
            queue.create();
            lab.progress().accept(queue + " to be filled in");
            trials.put(depth == deep ? DEEP : shallow(lab.settings()), () -> {
                queue.fill();
                return new Measurement(queue.perSecond(CLAIMED), 0, 0);
            });
        }
        lab.rounds().run(workload, 1, trials); // the first claims find nothing compiled
        var measured = lab.rounds().run(workload, lab.settings().rounds(), trials);
        return new Comparison(workload, measured).cost(workload.name(), DEEP, shallow(lab.settings()));
    }

    private static int depth(Settings settings) {
        return settings.quick() ? 300_000 : 1_000_000;
    }

    private static String claimed(Settings settings) {
        return "queue-claim-at-" + depth(settings);
    }

    private static String shallow(Settings settings) {
        return "idem-at-" + depth(settings) / 100;
    }

    @Override
    public List<Target> targets(Settings settings) {
        List<Target> targets = new ArrayList<>();
        for (String idem : List.of("idem", "idem-deferred", "idem-batch")) {
            targets.add(Target.atLeast(DRAIN, idem, 1.0, "hand"));
            QueueContenders.PEERS.forEach(peer -> targets.add(Target.atLeast(DRAIN, idem, 7, peer)));
        }
        targets.add(Target.atLeast(DRAIN, "idem-leased", 1.5, "db-scheduler"));
        targets.add(Target.atMost(P50, "idem", 2, "inline"));
        targets.add(Target.atMost(P99, "idem", 1, "db-scheduler"));
        targets.add(Target.atMost(P99, "idem", 1, "transaction-outbox"));
        targets.add(Target.atLeast(STORE, "idem-store-batch", 10, "idem-store-single"));
        targets.add(Target.atMost(claimed(settings), DEEP, 1.3, shallow(settings)));
        return targets;
    }

    @Override
    public boolean isPlotted(Row row) {
        return switch (row.name()) {
            case DRAIN -> row.reference().equals("hand");
            case P50, P99 -> row.reference().equals("inline");
            default -> true;
        };
    }
}
