package dev.idem.bench.load;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Delivery;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongPredicate;
import javax.sql.DataSource;

/** Runs one contender under one workload for a while, then counts the payments. */
public final class Load {
    private final DataSource dataSource;

    public Load(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /**
     * Measures from empty tables.
     *
     * @throws WrongCountException if not exactly the right messages were paid
     */
    public Measurement measure(Contender contender, Workload workload, Duration time) throws Exception {
        return measure(contender, workload, elapsed -> elapsed < time.toNanos());
    }

    /**
     * Measures from empty tables.
     *
     * @param goesOn asked before each call, with the nanoseconds since the first
     */
    public Measurement measure(Contender contender, Workload workload, LongPredicate goesOn) throws Exception {
        empty(contender);
        ExecutorService threads = Executors.newFixedThreadPool(workload.threads());
        try {
            var start = new CyclicBarrier(workload.threads());
            List<Future<Tally>> running = new ArrayList<>();
            for (int i = 0; i < workload.threads(); i++) {
                long seed = ThreadLocalRandom.current().nextLong();
                var feed = new Feed(workload, contender, i, seed);
                running.add(threads.submit(() -> run(contender, workload, feed, start, goesOn)));
            }
            List<Tally> tallies = all(running);
            check(contender, workload, tallies);
            return Measurement.of(tallies);
        } finally {
            threads.shutdownNow();
        }
    }

    private static Tally run(
            Contender contender, Workload workload, Feed feed, CyclicBarrier start, LongPredicate goesOn)
            throws Exception {
        var tally = new Tally();
        if (workload.duplicates() == 100) { // else there would be nothing to repeat
            for (List<Delivery> first = feed.pollFresh(); !first.isEmpty(); first = feed.pollFresh()) {
                contender.handle(first);
                tally.expect(first, contender);
            }
        }
        start.await();
        long began = System.nanoTime();
        long now = began;
        while (goesOn.test(now - began)) {
            List<Delivery> batch = feed.poll();
            contender.handle(batch);
            long done = System.nanoTime();
            tally.time(done - now, batch.size());
            tally.expect(batch, contender);
            now = done;
        }
        tally.end(now - began);
        return tally;
    }

    private void empty(Contender contender) throws SQLException {
        Effects.empty(dataSource, contender.tables());
    }

    private void check(Contender contender, Workload workload, List<Tally> tallies) throws SQLException {
        long expected = tallies.stream().mapToLong(Tally::payments).sum();
        new Effects(contender.effects(), contender.effectKey(), contender.recognisesDuplicates())
                .check(dataSource, contender.name(), workload, expected);
    }

    private static List<Tally> all(List<Future<Tally>> running) throws Exception {
        List<Tally> tallies = new ArrayList<>();
        for (Future<Tally> thread : running) {
            try {
                tallies.add(thread.get());
            } catch (ExecutionException failed) {
                if (failed.getCause() instanceof Exception cause) {
                    throw cause;
                }
                throw failed;
            }
        }
        return tallies;
    }
}
